// Memory that clients hold: incomplete bodies, queued requests, answers of unfinished batches, unread answers, filters,
// subscriptions. All threads count against one limit, so that clients cannot exhaust the memory.

/** Unit of the shared counters: 32 bits cover 512 GB. */
const unitBytes = 256

/** Requests up to this size are counted only if they wait on a WebSocket: a connection may have hundreds of them. */
const smallRequestBytes = 16_384
/** Memory of a small request that waits besides its body. */
const waitingBytes = 2048

/** Reservations of one thread. Shared counter 0 is the sum of all threads, followed by one counter for each thread. */
export class MemoryBudget {
  readonly #counters: Int32Array
  readonly #thread: number
  readonly #limit: number
  /** Limit of one client in this thread: half of the whole, divided by the threads. */
  readonly #share: number
  readonly #clients = new Map<string, number>()

  /** `counters` come from `sharedCounters`, `thread` is the index of this thread. */
  constructor(counters: Int32Array, thread: number, limitBytes: number) {
    this.#counters = counters
    this.#thread = thread
    this.#limit = units(limitBytes)
    this.#share = Math.floor(this.#limit / 2 / (counters.length - 1))
  }

  /** Bytes reserved by this thread. */
  get bytes(): number {
    return Atomics.load(this.#counters, 1 + this.#thread) * unitBytes
  }

  /** Bytes reserved by all threads. */
  get allBytes(): number {
    return Atomics.load(this.#counters, 0) * unitBytes
  }

  /** Reserves bytes; undefined if the limit of the process or of this client is exceeded. */
  reserve(client: string, bytes: number): Reservation | undefined {
    const reservation = this.open(client)
    return reservation.resize(bytes) ? reservation : undefined
  }

  /** Reserves the bytes of a request until it is answered: `uncounted` if it is small, undefined if a limit is exceeded. */
  reserveRequest(request: { readonly client: string }, bytes: number): Reservation | undefined {
    return bytes <= smallRequestBytes ? uncounted : this.reserve(request.client, bytes)
  }

  /** Like `reserveRequest`, on a connection with requests that wait: the request is likely to wait, too. */
  reserveBehind(request: { readonly client: string }, bytes: number): Reservation | undefined {
    return this.reserve(request.client, bytes + waitingBytes)
  }

  /** Counts a small request that waits already. */
  countWaiting(request: { readonly client: string }, bytes: number): Reservation {
    const reservation = this.open(request.client)
    reservation.count(bytes + waitingBytes)
    return reservation
  }

  /** Returns an empty reservation. */
  open(client: string): Reservation {
    return new Reservation((before, after, isForced) => this.#change(client, before, after, isForced))
  }

  /** Resizes a reservation, in units. Returns false if a limit is exceeded; the size then changes only if forced. */
  #change(client: string, before: number, after: number, isForced: boolean): boolean {
    const more = after - before
    if (more === 0) return true
    const held = this.#clients.get(client) ?? 0
    const all = Atomics.add(this.#counters, 0, more)
    // A client without another reservation may reserve any size: a small share must not reject every large body.
    const fits = more < 0 || (all + more <= this.#limit && (held === before || held + more <= this.#share))
    if (!fits && !isForced) {
      Atomics.sub(this.#counters, 0, more)
      return false
    }
    Atomics.add(this.#counters, 1 + this.#thread, more)
    if (held + more === 0) this.#clients.delete(client)
    else this.#clients.set(client, held + more)
    return fits
  }
}

/** Bytes of a body, answer, filter or subscription, held until `release`. */
export class Reservation {
  readonly #change: (before: number, after: number, isForced: boolean) => boolean
  #units = 0

  constructor(change: (before: number, after: number, isForced: boolean) => boolean) {
    this.#change = change
  }

  /** Resizes the reservation. Returns false and keeps the size if a limit is exceeded. */
  resize(bytes: number): boolean {
    const after = units(bytes)
    if (!this.#change(this.#units, after, false)) return false
    this.#units = after
    return true
  }

  /** Counts bytes that are allocated already. Returns false if a limit is exceeded. */
  count(bytes: number): boolean {
    const before = this.#units
    this.#units = units(bytes)
    return this.#change(before, this.#units, true)
  }

  release(): void {
    this.count(0)
  }
}

/** Reservation of small requests. */
export const uncounted = new Reservation(() => true)

/** Returns counters for a number of threads. */
export function sharedCounters(threads: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * (1 + threads)))
}

function units(bytes: number): number {
  return Math.ceil(bytes / unitBytes)
}
