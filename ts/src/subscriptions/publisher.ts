import type { Cursor } from '../native/feed.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { Notification } from './notification.ts'
import type { Audience, SubscriptionRegistry } from './registry.ts'
import type { SubscriptionSource } from './source.ts'

/** Blocks that are told in one turn of the event loop: other connections are served in between. */
const blocksPerTurn = 32

/** What methods ask of the subscriptions. */
export interface SubscriptionPort {
  /** Returns the id. */
  subscribe(subscriber: Subscriber, wanted: Wanted): string
  /** False for an id that is not one of this connection. */
  unsubscribe(subscriber: Subscriber, id: string): boolean
}

/**
 * Tells one worker's subscriptions what happens. The core only says that something changed; what changed is read from a
 * cursor, as installed filters do it, so a late call loses nothing and a reorganisation is seen as one.
 */
export class Publisher implements SubscriptionPort {
  readonly #source: SubscriptionSource
  readonly #registry: SubscriptionRegistry
  readonly #report: (defect: unknown) => void
  /** The last block that was told; undefined while nobody follows the chain. */
  #cursor: Cursor | undefined
  /** Position in the feed of the pool; undefined while nobody follows it. */
  #position: number | undefined
  #isListeningToHeads = false
  #isListeningToPool = false

  /** `report` gets what goes wrong while nobody waits for an answer. */
  constructor(source: SubscriptionSource, registry: SubscriptionRegistry, report: (defect: unknown) => void) {
    this.#source = source
    this.#registry = registry
    this.#report = report
  }

  subscribe(subscriber: Subscriber, wanted: Wanted): string {
    // Whoever is there already is told what has happened until now: the new one begins here.
    this.publish()
    const id = this.#registry.add(subscriber, wanted)
    if (this.#registry.hasBlocks) this.#followChain()
    if (this.#registry.hasPool) this.#followPool()
    return id
  }

  unsubscribe(subscriber: Subscriber, id: string): boolean {
    return this.#registry.remove(subscriber, id)
  }

  /** For a connection that has closed. */
  forget(subscriber: Subscriber): void {
    this.#registry.removeAll(subscriber)
  }

  /** Tells what is new. */
  publish(): void {
    try {
      this.#publishPool()
      this.#publishBlocks()
    } catch (error) {
      this.#report(error)
    }
  }

  #followChain(): void {
    // Listening comes first, so that nothing falls between.
    if (!this.#isListeningToHeads) this.#source.onHead(() => this.publish())
    this.#isListeningToHeads = true
    this.#cursor ??= this.#source.head()
  }

  #followPool(): void {
    if (!this.#isListeningToPool) this.#source.onPending(() => this.publish())
    this.#isListeningToPool = true
    this.#position ??= this.#source.pendingPosition()
  }

  #publishPool(): void {
    if (!this.#registry.hasPool) this.#position = undefined
    if (this.#position === undefined) return
    const { hashes, position } = this.#source.pendingSince(this.#position)
    this.#position = position
    const { pendingHashes, pendingTransactions } = this.#registry
    if (!pendingHashes.isEmpty) pendingHashes.tell(hashes.map((hash) => new Notification(JSON.stringify(hash))))
    if (!pendingTransactions.isEmpty) {
      tellKnown(
        pendingTransactions,
        hashes.map((hash) => this.#source.transaction(hash)),
      )
    }
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

/** Results that are null belong to what went away in between. */
function tellKnown(audience: Audience, results: readonly string[]): void {
  audience.tell(results.filter((result) => result !== 'null').map((result) => new Notification(result)))
}
