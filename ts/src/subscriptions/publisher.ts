import type { Cursor } from '../native/feed.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { Notification } from './notification.ts'
import type { Audience, SubscriptionRegistry } from './registry.ts'
import type { SubscriptionSource } from './source.ts'

/** Number of blocks that are published in one turn of the event loop, so that other connections are served in between. */
const blocksPerTurn = 32
/** The same for transactions of the pool. Whole transactions of thousands may take hundreds of megabytes. */
const transactionsPerTurn = 256

/** Time between two looks whether the node synchronizes, and whether the block template is outdated, while a subscription needs it. */
const lookPeriodMs = 500

/** Subscriptions as methods use them. */
export interface SubscriptionPort {
  /** Adds a subscription. Returns its id. `knownWork`: hash for merged mining of the block template that its caller knows. */
  subscribe(subscriber: Subscriber, wanted: Wanted, knownWork?: string): string
  /** Removes a subscription. Returns false if this connection has no such id. */
  unsubscribe(subscriber: Subscriber, id: string): boolean
}

/**
 * Publishes changes to the subscriptions of one worker. The core only notifies of a change; the changes are read from a
 * cursor, as for installed filters. So a late notification loses nothing, and a reorganization is read as one.
 */
export class Publisher implements SubscriptionPort {
  readonly #source: SubscriptionSource
  readonly #registry: SubscriptionRegistry
  readonly #report: (defect: unknown) => void
  /** Last published block; undefined while no subscription needs blocks. */
  #cursor: Cursor | undefined
  /** Position in the feed of the pool; undefined while no subscription needs it. */
  #position: number | undefined
  #syncTimer: NodeJS.Timeout | undefined
  #isSyncing = false
  #workTimer: NodeJS.Timeout | undefined
  /** Hash for merged mining of the last block template; undefined while no subscription needs it. */
  #workHash: string | undefined
  #isReadingWork = false
  /** The head has changed since the template was asked for. */
  #isWorkOutdated = false
  #isListeningToHeads = false
  #isListeningToPool = false

  /** `report` receives errors that no request can return. */
  constructor(source: SubscriptionSource, registry: SubscriptionRegistry, report: (defect: unknown) => void) {
    this.#source = source
    this.#registry = registry
    this.#report = report
  }

  subscribe(subscriber: Subscriber, wanted: Wanted, knownWork?: string): string {
    // Publishes changes until now to existing subscriptions: the new subscription starts here.
    this.publish()
    const id = this.#registry.add(subscriber, wanted)
    if (this.#registry.hasBlocks) this.#followChain()
    if (this.#registry.hasPool) this.#followPool()
    if (!this.#registry.work.isEmpty) this.#followWork(knownWork)
    if (!this.#registry.syncing.isEmpty) this.#followSync()
    return id
  }

  unsubscribe(subscriber: Subscriber, id: string): boolean {
    return this.#registry.remove(subscriber, id)
  }

  /** Removes the subscriptions of a closed connection. */
  forget(subscriber: Subscriber): void {
    this.#registry.removeAll(subscriber)
  }

  /** Publishes new blocks and transactions. Blocks wait until the transactions before them are published. */
  publish(): void {
    if (this.#workTimer !== undefined) void this.#publishWork()
    try {
      const isComplete = this.#publishPool()
      if (isComplete) this.#publishBlocks()
      else setImmediate(() => this.publish())
    } catch (error) {
      this.#report(error)
    }
  }

  #followChain(): void {
    // The listener is set before the cursor is read, so that no change is lost in between.
    this.#listenToHeads()
    this.#cursor ??= this.#source.head()
  }

  #listenToHeads(): void {
    if (!this.#isListeningToHeads) this.#source.onHead(() => this.publish())
    this.#isListeningToHeads = true
  }

  #followPool(): void {
    if (!this.#isListeningToPool) this.#source.onPending(() => this.publish())
    this.#isListeningToPool = true
    this.#position ??= this.#source.pendingPosition()
  }

  #followWork(known: string | undefined): void {
    this.#workHash ??= known
    if (this.#workTimer !== undefined) return
    this.#listenToHeads()
    // Fees and the time of a template change without a new head.
    this.#workTimer = setInterval(() => void this.#publishWork(), lookPeriodMs)
    this.#workTimer.unref()
  }

  /** Publishes the block template if it differs from the last one. */
  async #publishWork(): Promise<void> {
    const { work } = this.#registry
    if (work.isEmpty) {
      clearInterval(this.#workTimer)
      this.#workTimer = undefined
      this.#workHash = undefined
      return
    }
    if (this.#isReadingWork) {
      this.#isWorkOutdated = true
      return
    }
    this.#isReadingWork = true
    this.#isWorkOutdated = false
    try {
      const text = await this.#source.work()
      const { blockHashForMergedMining: hash } = JSON.parse(text) as { blockHashForMergedMining: string }
      if (hash !== this.#workHash) work.tell([new Notification(text)])
      this.#workHash = hash
    } catch (error) {
      this.#report(error)
    } finally {
      this.#isReadingWork = false
    }
    if (this.#isWorkOutdated) await this.#publishWork()
  }

  #followSync(): void {
    if (this.#syncTimer !== undefined) return
    // Nothing is pushed at subscription time, as in the reference.
    this.#isSyncing = this.#source.syncing() !== undefined
    this.#syncTimer = setInterval(() => this.#publishSync(), lookPeriodMs)
    this.#syncTimer.unref()
  }

  #publishSync(): void {
    const { syncing } = this.#registry
    if (syncing.isEmpty) {
      clearInterval(this.#syncTimer)
      this.#syncTimer = undefined
      return
    }
    try {
      const status = this.#source.syncing()
      const isSyncing = status !== undefined
      if (isSyncing === this.#isSyncing) return
      this.#isSyncing = isSyncing
      syncing.tell([new Notification(isSyncing ? JSON.stringify({ syncing: true, status }) : 'false')])
    } catch (error) {
      this.#report(error)
    }
  }

  /** Returns whether no transaction is left for the next turn. */
  #publishPool(): boolean {
    if (!this.#registry.hasPool) this.#position = undefined
    if (this.#position === undefined) return true
    const { hashes: all, position } = this.#source.pendingSince(this.#position)
    const hashes = all.slice(0, transactionsPerTurn)
    this.#position = position - (all.length - hashes.length)
    const { pendingHashes, pendingTransactions } = this.#registry
    if (!pendingHashes.isEmpty) pendingHashes.tell(hashes.map((hash) => new Notification(JSON.stringify(hash))))
    if (!pendingTransactions.isEmpty) {
      tellKnown(
        pendingTransactions,
        hashes.map((hash) => this.#source.transaction(hash)),
      )
    }
    return hashes.length === all.length
  }

  #publishBlocks(): void {
    if (!this.#registry.hasBlocks) this.#cursor = undefined
    if (this.#cursor === undefined) return
    const { removed, hashes, cursor } = this.#source.movementSince(this.#cursor, blocksPerTurn)
    this.#cursor = cursor
    for (const hash of removed) this.#publishLogs(hash, true)
    for (const hash of hashes) {
      if (!this.#registry.heads.isEmpty) tellKnown(this.#registry.heads, [this.#source.header(hash)])
      this.#publishLogs(hash, false)
    }
    if (hashes.length === blocksPerTurn) setImmediate(() => this.publish())
  }

  #publishLogs(hash: string, isRemoved: boolean): void {
    const { logs } = this.#registry
    if (logs.size === 0) return
    const audiences = [...logs.values()]
    const told = audiences.map((): Notification[] => [])
    for (const { queries, log } of this.#source.matchingLogs(hash, `[${[...logs.keys()].join(',')}]`, isRemoved)) {
      const notification = new Notification(JSON.stringify(log))
      for (const query of queries) told[query]?.push(notification)
    }
    for (const [query, audience] of audiences.entries()) audience.tell(told[query] ?? [])
  }
}

/** Null results belong to blocks or transactions that were removed in between. */
function tellKnown(audience: Audience, results: readonly string[]): void {
  audience.tell(results.filter((result) => result !== 'null').map((result) => new Notification(result)))
}
