/** Statistics of an executor: a thread pool and its queue. */
interface ExecutorStats {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
}

/** Work on the database beside the import. */
export const upkeepTasks = ['pruning', 'snapshots', 'addressIndex'] as const
type UpkeepTask = (typeof upkeepTasks)[number]

/** Cache look-ups since the start. */
interface CacheReads {
  readonly hits: number
  readonly misses: number
}

/** The download of a state from peers. */
export interface StateFigures {
  /** Number of the block after which the state is. */
  readonly pivot: number
  /** Bytes of the state that are there. */
  readonly bytes: number
  /** Size of the state; 0 while it is unknown. */
  readonly totalBytes: number
  readonly bytesPerSecond: number
}

/** The download of the blocks below the ones of a state download. */
export interface OlderFigures {
  /** Number of the lowest stored block above genesis. */
  readonly oldest: number
  readonly blocksPerSecond: number
}

/** The synchronization with peers. Counters start with the node, rates are of the last 30 s. */
export interface SyncFigures {
  /** Whether the head is more than 24 blocks behind the best header. */
  readonly isSyncing: boolean
  /** Number of the head when the synchronization began. */
  readonly start: number
  /** Number of the head. */
  readonly head: number
  /** Number of the best validated header. */
  readonly bestHeader: number
  /** Highest number that a peer claims. */
  readonly claimed: number
  /** Seconds between the times of the head and of the best validated header. */
  readonly secondsBehind: number
  readonly headers: number
  readonly bodies: number
  readonly headersPerSecond: number
  readonly bodiesPerSecond: number
  /** Blocks a second by which the head advances. */
  readonly blocksPerSecond: number
  /** Peers that are asked. */
  readonly peers: number
  /** Peers that take no further message in this minute. */
  readonly peersOverBudget: number
  /** Times at which a peer took no further message in a minute. */
  readonly budgetWaits: number
  /** Blocks that no peer was asked for. */
  readonly missing: number
  /** Blocks that a peer was asked for. */
  readonly requested: number
  /** Blocks that wait for an earlier one. */
  readonly ready: number
  /** Blocks in the queue of the importer. */
  readonly importing: number
  /** Null unless a state is downloaded. */
  readonly state: StateFigures | null
  /** Whether all blocks are executed because no peer delivered a state. */
  readonly hasGivenUpState: boolean
  /** Null unless older blocks are missing. */
  readonly older: OlderFigures | null
  /** Failure of this node that stopped the synchronization. */
  readonly failure: string | null
}

/** A number of messages with their bytes. */
interface MessageFigures {
  readonly messages: number
  readonly bytes: number
}

/** Direction of a connection or message: `in` for dialled by others, and for received. */
export type Direction = 'in' | 'out'

/** The connections to other nodes. Counters start with the node. */
export interface NetworkFigures {
  readonly peers: Readonly<Record<Direction, number>>
  /** Seconds for which the head of a public network has not moved while peers are connected; null below 600. */
  readonly stalledSeconds: number | null
  /** Nodes that may be dialled. */
  readonly knownNodes: number
  /** Bans of the operator in force. */
  readonly banned: number
  /** By type. */
  readonly messages: Readonly<Record<Direction, Readonly<Record<string, MessageFigures>>>>
  /** Received messages that are not handled, and messages that wait to be sent. */
  readonly queues: Readonly<Record<Direction, MessageFigures>>
  /** Bans and punishments by reason. */
  readonly bans: Readonly<Record<string, number>>
  /** Closed connections by reason. */
  readonly closed: Readonly<Record<string, number>>
}

/** A node of a fleet. */
export interface FleetNodeFigures {
  readonly name: string
  readonly role: string
  readonly version: string
  readonly number: number
  readonly hash: string
  /** Whether it has the best head of the fleet, or lacks it for less than a second. */
  readonly isReady: boolean
  /** Time since its last announcement. */
  readonly silentMs: number
  /** Time for which it has lacked the best head; 0 if it has that. */
  readonly behindMs: number
}

/** The part of this node in a fleet. Counters start with the node. */
export interface FleetFigures {
  readonly role: 'importer' | 'replica'
  readonly isConnected: boolean
  /** Whether this node lacks the best head of the fleet for more than a second, or has not had it since its start. */
  readonly isBehind: boolean
  /** Number of the block of the tag latest. */
  readonly latest: number
  /** Why the node is not fully part of the fleet. */
  readonly failure: string | null
  /** Time for which there has been a failure. */
  readonly failingSeconds: number
  /** Fault of the last damaged or invalid message. */
  readonly lastFault: string | null
  /** Restores of a replica that the block log has passed by; `done` and `total` in bytes, 0 while none is restored. */
  readonly restore: {
    readonly completed: number
    readonly done: number
    readonly total: number
    readonly failure: string | null
  }
  readonly log: Readonly<
    Record<
      'published' | 'refused' | 'received' | 'damaged' | 'invalid' | 'waiting' | 'place' | 'last' | 'renewed',
      number
    >
  >
  readonly transactions: Readonly<Record<'sent' | 'taken' | 'rejected' | 'damaged', number>>
  /** The stream of changes; null if this node does not publish it. */
  readonly changes: {
    /** Whether this node holds the lease, and publishes. */
    readonly isHolder: boolean
    /** Sequence number of the last message. */
    readonly sequence: number
    /** Messages that this node added. */
    readonly published: number
    readonly failure: string | null
  } | null
  readonly nodes: readonly FleetNodeFigures[]
}

/** Blocks whose inner calls are in the address index. */
export interface IndexedCalls {
  /** Blocks that are still missing. */
  readonly missing: number
  /** First block from which none is left out: the states before earlier ones were not kept. */
  readonly completeFrom: number
}

/** Figures of the core. */
export interface NodeFigures {
  readonly number: number
  readonly hash: string
  /** Time of the head, in seconds since 1970. */
  readonly timestamp: number
  readonly highestBlock: number
  readonly pendingTransactions: number
  readonly queuedTransactions: number
  /** Blocks that the address index still misses; null if it is switched off. */
  readonly missingInAddressIndex: number | null
  /** Inner calls in the address index; null if they are not indexed. */
  readonly indexedCalls: IndexedCalls | null
  /** Null if the node runs without peers. */
  readonly sync: SyncFigures | null
  /** Null if the node runs without peers. */
  readonly network: NetworkFigures | null
  /** Null without a fleet. */
  readonly fleet: FleetFigures | null
  readonly lanes: Readonly<Record<'pool' | 'send' | 'trace', ExecutorStats>>
  /** Caches of finished answers, and of stored blocks, receipts and long values. */
  readonly caches: Readonly<Record<'answers' | 'blocks' | 'receipts' | 'values', CacheReads>>
  /** Work on the database that no caller waits for. */
  readonly upkeep: {
    /** Number of the oldest block whose state is kept. */
    readonly oldestState: number
    /** Nodes of the head's trie in memory. */
    readonly trieNodes: number
    readonly trieEvictions: number
    /** Reason of the last failure of each task whose last attempt failed. */
    readonly failures: Readonly<Partial<Record<UpkeepTask, string>>>
  }
  readonly store: {
    readonly blockCacheBytes: number
    /** Filters and indexes of the state, part of the cache. */
    readonly pinnedBytes: number
    /** Compactions that run. */
    readonly compactions: number
    readonly valueCacheBytes: number
    readonly writeBufferBytes: number
    readonly fileBytes: number
    readonly compactionBytes: number
    /** The database accepts no writes until its compaction has caught up. */
    readonly isWriteStopped: boolean
    /** Why writes fail; null while they succeed. */
    readonly writeFault: string | null
  }
}
