import { setTimeout as sleep } from 'node:timers/promises'
import type { Cursor } from '../native/feed.ts'
import { eventLoopBudget } from '../rpc/eventLoopBudget.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { Notification } from './notification.ts'
import type { Audience, Steps, SubscriptionRegistry } from './registry.ts'
import type { BlockLog, SubscriptionSource } from './source.ts'

/** Blocks that are read at once. */
const blocksPerRead = 32
/** Transactions of the pool in one packet. Whole transactions of thousands may take hundreds of megabytes. */
const transactionsPerPush = 16
/** Logs of a block in one packet. */
const logsPerPush = 256
/** Packets after which other connections are served. */
const pushesPerTurn = 32
/** Time in ms after which other connections are served. */
const workMs = 4
/** Time to wait for a client that has left much unread. */
const waitMs = 250
/** A client that reads less in this time is not waited for again before it has read all. */
const leastReadBytes = 256 * 1024
/** Sum of these times until all changes are published, however many clients read slowly. */
const maxWaitMs = 10_000

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
 *
 * Changes that were read are published in order and in steps, over as many turns of the event loop as they need.
 */
export class Publisher implements SubscriptionPort {
  readonly #source: SubscriptionSource
  readonly #registry: SubscriptionRegistry
  readonly #report: (defect: unknown) => void
  readonly #workMs: number
  /** Changes that were read. */
  readonly #changes: Iterator<Subscriber | undefined>[] = []
  /** Number of the changes that were read last. A subscription gets changes with a larger number. */
  #number = 0
  #isOutdated = false
  #isPublishing = false
  /** Clients that have read too little during a wait, until they have read all. */
  readonly #slow = new WeakSet<Subscriber>()
  #waitedMs = 0
  /** Last block that was read; undefined while no subscription needs blocks. */
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
  constructor(
    source: SubscriptionSource,
    registry: SubscriptionRegistry,
    report: (defect: unknown) => void,
    turnMs = workMs,
  ) {
    this.#source = source
    this.#registry = registry
    this.#report = report
    this.#workMs = turnMs
  }

  subscribe(subscriber: Subscriber, wanted: Wanted, knownWork?: string): string {
    // Changes until now are for existing subscriptions: the new subscription starts here.
    this.publish()
    while (this.#isOutdated) this.#read()
    const id = this.#registry.add(subscriber, wanted, this.#number + 1)
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

  /** Publishes new blocks and transactions. */
  publish(): void {
    if (this.#workTimer !== undefined) void this.#publishWork()
    this.#isOutdated = true
    this.#start()
  }

  #start(): void {
    if (!this.#isPublishing) void this.#publishAll()
  }

  /** Publishes changes until there are no more. The first steps run at once. */
  async #publishAll(): Promise<void> {
    this.#isPublishing = true
    this.#waitedMs = 0
    let pushes = 0
    let startedMs = performance.now()
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      const subscriber = this.#step(change)
      if (subscriber !== undefined) pushes++
      const mustWait = subscriber?.isBehind === true && this.#mayWaitFor(subscriber)
      if (!mustWait && pushes < pushesPerTurn && performance.now() - startedMs < this.#workMs) continue
      if (mustWait) await this.#waitFor(subscriber)
      await eventLoopBudget.later('heavy', () => undefined)
      pushes = 0
      startedMs = performance.now()
    }
    this.#isPublishing = false
  }

  /** Returns the first change that is not published completely. */
  #next(): Iterator<Subscriber | undefined> | undefined {
    while (this.#changes.length === 0 && this.#isOutdated) this.#read()
    return this.#changes[0]
  }

  /** Takes the next step of a change. Returns the subscriber that it has sent to, if any. */
  #step(change: Iterator<Subscriber | undefined>): Subscriber | undefined {
    try {
      const { done, value } = change.next()
      if (done !== true) return value
    } catch (error) {
      this.#report(error)
    }
    this.#changes.shift()
    return undefined
  }

  #mayWaitFor(subscriber: Subscriber): boolean {
    return this.#waitedMs < maxWaitMs && !this.#slow.has(subscriber)
  }

  /** Waits until a client has read, so that a long series of messages does not close a connection that reads. */
  async #waitFor(subscriber: Subscriber): Promise<void> {
    const startedMs = performance.now()
    const { unreadBytes } = subscriber
    const drained = subscriber.drained()
    await Promise.race([drained, sleep(waitMs, undefined, { ref: false })])
    this.#waitedMs += performance.now() - startedMs
    if (unreadBytes - subscriber.unreadBytes >= leastReadBytes) return
    this.#slow.add(subscriber)
    void drained.then(() => this.#slow.delete(subscriber))
  }

  /** Reads changes of the pool and the chain: transactions are published before the blocks after them. */
  #read(): void {
    this.#isOutdated = false
    this.#number++
    try {
      this.#readPool()
      this.#readBlocks()
    } catch (error) {
      this.#report(error)
    }
  }

  #add(steps: Steps): void {
    this.#changes.push(steps[Symbol.iterator]())
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
      if (hash !== this.#workHash) this.#tell(work, text)
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
      this.#tell(syncing, isSyncing ? JSON.stringify({ syncing: true, status }) : 'false')
    } catch (error) {
      this.#report(error)
    }
  }

  #tell(audience: Audience, result: string): void {
    this.#number++
    this.#add(audience.tell(this.#number, [new Notification(result)]))
    this.#start()
  }

  #readPool(): void {
    if (!this.#registry.hasPool) this.#position = undefined
    if (this.#position === undefined) return
    const { hashes, position } = this.#source.pendingSince(this.#position)
    this.#position = position
    if (hashes.length > 0) this.#add(this.#transactionSteps(this.#number, hashes))
  }

  *#transactionSteps(change: number, all: readonly string[]): Steps {
    const { pendingHashes, pendingTransactions } = this.#registry
    for (let start = 0; start < all.length; start += transactionsPerPush) {
      const hashes = all.slice(start, start + transactionsPerPush)
      if (!pendingHashes.isEmpty) {
        const notifications = hashes.map((hash) => new Notification(JSON.stringify(hash)))
        yield* pendingHashes.tell(change, notifications)
      }
      if (!pendingTransactions.isEmpty) {
        const transactions = hashes.map((hash) => this.#source.transaction(hash))
        yield* tellKnown(pendingTransactions, change, transactions)
      }
    }
  }

  #readBlocks(): void {
    if (!this.#registry.hasBlocks) this.#cursor = undefined
    if (this.#cursor === undefined) return
    const { removed, hashes, cursor } = this.#source.movementSince(this.#cursor, blocksPerRead)
    this.#cursor = cursor
    for (const hash of removed) this.#add(this.#logSteps(this.#number, hash, true))
    for (const hash of hashes) this.#add(this.#blockSteps(this.#number, hash))
    this.#isOutdated = hashes.length === blocksPerRead
  }

  *#blockSteps(change: number, hash: string): Steps {
    const { heads } = this.#registry
    if (!heads.isEmpty) yield* tellKnown(heads, change, [this.#source.header(hash)])
    yield* this.#logSteps(change, hash, false)
  }

  *#logSteps(change: number, hash: string, isRemoved: boolean): Steps {
    const { logs: audiences } = this.#registry
    if (audiences.size === 0) return
    const all = this.#source.logs(hash, isRemoved)
    for (let start = 0; start < all.length; start += logsPerPush) {
      yield
      const logs = all.slice(start, start + logsPerPush)
      const addresses = new Set(logs.map(({ address }) => address))
      const written = new Map<BlockLog, Notification>()
      const write = (log: BlockLog): Notification => {
        const notification = written.get(log) ?? new Notification(JSON.stringify(log))
        written.set(log, notification)
        return notification
      }
      for (const audience of audiences.values()) {
        yield* audience.tell(change, audience.matching(logs, addresses).map(write))
        yield
      }
    }
  }
}

/** Null results belong to blocks or transactions that were removed in between. */
function tellKnown(audience: Audience, change: number, results: readonly string[]): Steps {
  const known = results.filter((result) => result !== 'null')
  return audience.tell(
    change,
    known.map((result) => new Notification(result)),
  )
}
