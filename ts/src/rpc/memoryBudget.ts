// Bytes that wait for a client or for an event: bodies that are still arriving, requests in a queue, unread answers,
// filters, subscriptions. All threads count against one limit, so that clients cannot exhaust the memory.

/** What the shared counters count in: their 32 bits then reach to 512 GB. */
const unitBytes = 256

/** Requests up to this size are not counted: they are bounded by the number that may wait. */
const smallRequestBytes = 16_384

/** Reservations of one thread. Cell 0 is the sum of all threads, one cell for each thread follows. */
export class MemoryBudget {
  readonly #cells: Int32Array
  readonly #thread: number
  readonly #limit: number
  /** What one client may hold in this thread: half of the whole, in equal parts. */
  readonly #share: number
  readonly #clients = new Map<string, number>()

  /** `cells` are those of `budgetCells`, `thread` is the place of this thread in them. */
  constructor(cells: Int32Array, thread: number, limitBytes: number) {
    this.#cells = cells
    this.#thread = thread
    this.#limit = units(limitBytes)
    this.#share = Math.floor(this.#limit / 2 / (cells.length - 1))
  }

  /** Bytes that are reserved by this thread. */
  get bytes(): number {
    return Atomics.load(this.#cells, 1 + this.#thread) * unitBytes
  }

  /** Bytes that are reserved by all threads. */
  get allBytes(): number {
    return Atomics.load(this.#cells, 0) * unitBytes
  }

  /** Undefined when the limit of the process or the share of this client leaves no room for the bytes. */
  reserve(client: string, bytes: number): Reservation | undefined {
    const reservation = this.open(client)
    return reservation.resize(bytes) ? reservation : undefined
  }

  /** Reserves the bytes of a request until it is answered: `uncounted` for a small one, undefined when there is no room. */
  reserveRequest(request: { readonly client: string }, bytes: number): Reservation | undefined {
    return bytes <= smallRequestBytes ? uncounted : this.reserve(request.client, bytes)
  }

  /** A reservation of nothing, to be resized. */
  open(client: string): Reservation {
    return new Reservation((before, after, isForced) => this.#change(client, before, after, isForced))
  }

  /** Moves a reservation from one size to another, in units; false when there is no room: unless forced, nothing moved. */
  #change(client: string, before: number, after: number, isForced: boolean): boolean {
    const more = after - before
    if (more === 0) return true
    const held = this.#clients.get(client) ?? 0
    const all = Atomics.add(this.#cells, 0, more)
    // A client that holds nothing else may take one thing of any size: small shares must not refuse every large body.
    const fits = more < 0 || (all + more <= this.#limit && (held === before || held + more <= this.#share))
    if (!fits && !isForced) {
      Atomics.sub(this.#cells, 0, more)
      return false
    }
    Atomics.add(this.#cells, 1 + this.#thread, more)
    if (held + more === 0) this.#clients.delete(client)
    else this.#clients.set(client, held + more)
    return fits
  }
}

/** Bytes that one thing holds until it is released. */
export class Reservation {
  readonly #change: (before: number, after: number, isForced: boolean) => boolean
  #units = 0

  constructor(change: (before: number, after: number, isForced: boolean) => boolean) {
    this.#change = change
  }

  /** False when there is no room for the bytes: the reservation then keeps its size. */
  resize(bytes: number): boolean {
    const after = units(bytes)
    if (!this.#change(this.#units, after, false)) return false
    this.#units = after
    return true
  }

  /** Counts bytes that are there already; false when they are more than there is room for. */
  count(bytes: number): boolean {
    const before = this.#units
    this.#units = units(bytes)
    return this.#change(before, this.#units, true)
  }

  release(): void {
    this.count(0)
  }
}

/** What small requests hold. */
export const uncounted = new Reservation(() => true)

/** Shared counters for this number of threads. */
export function budgetCells(threads: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * (1 + threads)))
}

function units(bytes: number): number {
  return Math.ceil(bytes / unitBytes)
}
