import { limitReached } from '../rpc/errors.ts'
import type { MemoryBudget } from '../rpc/memoryBudget.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import type { Notification } from './notification.ts'

/** Subscriptions with the same messages, with their connections. */
export class Audience {
  readonly #members = new Map<string, Subscriber>()

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  add(id: string, subscriber: Subscriber): void {
    this.#members.set(id, subscriber)
  }

  remove(id: string): void {
    this.#members.delete(id)
  }

  tell(notifications: readonly Notification[]): void {
    if (notifications.length === 0) return
    for (const [id, subscriber] of this.#members) subscriber.push(messagesFor(id, notifications))
  }
}

/** Writes each message after the previous one is sent, because they share their bytes. */
function* messagesFor(id: string, notifications: readonly Notification[]): Iterable<Buffer> {
  for (const notification of notifications) yield notification.for(id)
}

/** Memory of a subscription besides its criteria. */
const entryBytes = 512
/** Copies of the text of criteria: the text itself, and during a match the joined text, its copy for the core, the parsed criteria. */
const copiesOfCriteria = 4

/** Subscriptions of the connections of one worker. A subscription ends with its connection. */
export class SubscriptionRegistry {
  readonly heads = new Audience()
  readonly pendingHashes = new Audience()
  readonly pendingTransactions = new Audience()
  readonly work = new Audience()
  readonly syncing = new Audience()
  /** By the JSON text of the criteria. */
  readonly logs = new Map<string, Audience>()
  readonly #owned = new Map<Subscriber, Map<string, () => void>>()
  readonly #maximum: number
  readonly #memory: MemoryBudget
  readonly #newId: () => string
  readonly #onChange: (change: number) => void

  /**
   * At most `maximum` for one connection. `newId` returns 0x and 32 digits that cannot be guessed. `onChange` receives the
   * change of the number of subscriptions.
   */
  constructor(
    maximum: number,
    memory: MemoryBudget,
    newId: () => string,
    onChange: (change: number) => void = () => undefined,
  ) {
    this.#maximum = maximum
    this.#memory = memory
    this.#newId = newId
    this.#onChange = onChange
  }

  get hasBlocks(): boolean {
    return !this.heads.isEmpty || this.logs.size > 0
  }

  get hasPool(): boolean {
    return !this.pendingHashes.isEmpty || !this.pendingTransactions.isEmpty
  }

  /** Adds a subscription. Returns its id. Throws RpcError if the connection, its client or all have too many. */
  add(subscriber: Subscriber, wanted: Wanted): string {
    const owned = this.#owned.get(subscriber) ?? new Map<string, () => void>()
    if (owned.size >= this.#maximum) {
      throw limitReached(`Too many subscriptions: ${this.#maximum} are the most of one connection`)
    }
    const criteria = wanted.kind === 'logs' ? JSON.stringify(wanted.criteria) : ''
    const held = this.#memory.reserve(subscriber.client, entryBytes + copiesOfCriteria * criteria.length)
    if (held === undefined)
      throw limitReached('Too many subscriptions: they take all memory that is set aside for them')
    const id = this.#newId()
    const leave = wanted.kind === 'logs' ? this.#joinLogs(id, subscriber, criteria) : this.#join(id, subscriber, wanted)
    owned.set(id, () => {
      leave()
      held.release()
    })
    this.#owned.set(subscriber, owned)
    this.#onChange(1)
    return id
  }

  /** Removes a subscription. Returns false if this connection has no such id. */
  remove(subscriber: Subscriber, id: string): boolean {
    const owned = this.#owned.get(subscriber)
    const leave = owned?.get(id)
    if (leave !== undefined) {
      leave()
      this.#onChange(-1)
    }
    owned?.delete(id)
    if (owned?.size === 0) this.#owned.delete(subscriber)
    return leave !== undefined
  }

  /** Removes the subscriptions of a closed connection. */
  removeAll(subscriber: Subscriber): void {
    const owned = this.#owned.get(subscriber)
    if (owned === undefined) return
    for (const leave of owned.values()) leave()
    this.#onChange(-owned.size)
    this.#owned.delete(subscriber)
  }

  #join(id: string, subscriber: Subscriber, wanted: Exclude<Wanted, { kind: 'logs' }>): () => void {
    const audience = this.#audienceOf(wanted)
    audience.add(id, subscriber)
    return () => audience.remove(id)
  }

  #joinLogs(id: string, subscriber: Subscriber, criteria: string): () => void {
    const audience = this.logs.get(criteria) ?? new Audience()
    this.logs.set(criteria, audience)
    audience.add(id, subscriber)
    return () => {
      audience.remove(id)
      if (audience.isEmpty) this.logs.delete(criteria)
    }
  }

  #audienceOf(wanted: Exclude<Wanted, { kind: 'logs' }>): Audience {
    if (wanted.kind === 'newHeads') return this.heads
    if (wanted.kind === 'newWork') return this.work
    if (wanted.kind === 'syncing') return this.syncing
    return wanted.isFull ? this.pendingTransactions : this.pendingHashes
  }
}
