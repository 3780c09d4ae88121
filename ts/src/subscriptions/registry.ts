import { limitReached } from '../rpc/errors.ts'
import type { MemoryBudget } from '../rpc/memoryBudget.ts'
import type { LogCriteria } from '../rpc/parameters/logFilter.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import type { Notification } from './notification.ts'
import type { BlockLog } from './source.ts'

/** Subscriptions with the same messages, with their connections. */
export class Audience {
  readonly #members = new Map<string, { readonly subscriber: Subscriber; readonly since: number }>()

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  /** `since`: number of the first change that the subscription gets. */
  add(id: string, subscriber: Subscriber, since: number): void {
    this.#members.set(id, { subscriber, since })
  }

  remove(id: string): void {
    this.#members.delete(id)
  }

  /** Sends messages of a change, in steps: yields each subscriber. Members may join and leave meanwhile. */
  *tell(change: number, notifications: readonly Notification[]): Steps {
    if (notifications.length === 0) return
    for (const [id, { subscriber, since }] of this.#members) {
      if (since > change) continue
      subscriber.push(messagesFor(id, notifications))
      yield subscriber
    }
  }
}

/** Steps of a publication, each with the subscriber that it has sent to, if any. */
export type Steps = Iterable<Subscriber | undefined>

/** Subscriptions to the logs with the same criteria. */
export class LogAudience extends Audience {
  readonly #addresses: ReadonlySet<string> | undefined
  readonly #topics: readonly (ReadonlySet<string> | null)[]

  constructor({ address, topics = [] }: LogCriteria) {
    super()
    this.#addresses = address && lowerCase(address)
    this.#topics = topics.map((choices) => choices && lowerCase(choices))
  }

  /** `addresses`: those of the logs. */
  matching<Log extends BlockLog>(logs: readonly Log[], addresses: ReadonlySet<string>): Log[] {
    const wanted = this.#addresses
    if (wanted !== undefined && ![...addresses].some((address) => wanted.has(address))) return []
    return logs.filter(({ address, topics }) => {
      if (wanted?.has(address) === false) return false
      return this.#topics.every((choices, at) => choices?.has(topics[at] as string) ?? true)
    })
  }
}

function lowerCase(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.map((text) => text.toLowerCase()))
}

/** Writes each message after the previous one is sent, because they share their bytes. */
function* messagesFor(id: string, notifications: readonly Notification[]): Iterable<Buffer> {
  for (const notification of notifications) yield notification.for(id)
}

/** Memory of a subscription besides its criteria. */
const entryBytes = 512
/** Memory of criteria as a multiple of their text: the text itself, and the sets of their members. */
const copiesOfCriteria = 4

/** Subscriptions of the connections of one worker. A subscription ends with its connection. */
export class SubscriptionRegistry {
  readonly heads = new Audience()
  readonly pendingHashes = new Audience()
  readonly pendingTransactions = new Audience()
  readonly work = new Audience()
  readonly syncing = new Audience()
  /** By the JSON text of the criteria. */
  readonly logs = new Map<string, LogAudience>()
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

  /**
   * Adds a subscription. Returns its id. `since`: number of the first change that it gets. Throws RpcError if the connection,
   * its client or all have too many.
   */
  add(subscriber: Subscriber, wanted: Wanted, since: number): string {
    const owned = this.#owned.get(subscriber) ?? new Map<string, () => void>()
    if (owned.size >= this.#maximum) {
      throw limitReached(`Too many subscriptions: ${this.#maximum} are the most of one connection`)
    }
    const criteria = wanted.kind === 'logs' ? JSON.stringify(wanted.criteria) : ''
    const held = this.#memory.reserve(subscriber.client, entryBytes + copiesOfCriteria * criteria.length)
    if (held === undefined)
      throw limitReached('Too many subscriptions: they take all memory that is set aside for them')
    const id = this.#newId()
    const audience = wanted.kind === 'logs' ? this.#logAudience(criteria, wanted.criteria) : this.#audienceOf(wanted)
    audience.add(id, subscriber, since)
    owned.set(id, () => {
      audience.remove(id)
      if (audience.isEmpty) this.logs.delete(criteria)
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

  #logAudience(text: string, criteria: LogCriteria): LogAudience {
    const audience = this.logs.get(text) ?? new LogAudience(criteria)
    this.logs.set(text, audience)
    return audience
  }

  #audienceOf(wanted: Exclude<Wanted, { kind: 'logs' }>): Audience {
    if (wanted.kind === 'newHeads') return this.heads
    if (wanted.kind === 'newWork') return this.work
    if (wanted.kind === 'syncing') return this.syncing
    return wanted.isFull ? this.pendingTransactions : this.pendingHashes
  }
}
