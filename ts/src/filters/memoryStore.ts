import { limitReached } from '../rpc/errors.ts'
import type { MemoryBudget, Reservation } from '../rpc/memoryBudget.ts'
import { Places } from '../rpc/places.ts'
import { newId } from './newId.ts'
import { type FilterLimits, type FilterStore, type StoredFilter, tooManyFilters } from './store.ts'

/** Memory of a filter besides its text: id, cursor and table entries. */
const entryBytes = 1024

interface Entry {
  /** JSON text: its size is known, and a tenth of the size of objects. */
  readonly filter: string
  readonly client: string
  readonly held: Reservation
  seen: string
  expiresAtMs: number
}

/** Embedded store: filters live as long as the node. */
export class MemoryFilters implements FilterStore {
  readonly #entries = new Map<string, Entry>()
  readonly #places: Places
  readonly #limits: FilterLimits
  readonly #memory: MemoryBudget
  readonly #nowMs: () => number
  readonly #newId: () => string

  constructor(
    limits: FilterLimits,
    memory: MemoryBudget,
    nowMs: () => number = () => performance.now(),
    id: () => string = newId,
  ) {
    this.#limits = limits
    this.#places = new Places(limits.maximum)
    this.#memory = memory
    this.#nowMs = nowMs
    this.#newId = id
  }

  async add({ filter: added, seen }: StoredFilter, client: string): Promise<string> {
    this.removeExpired()
    const { expiryMs, maximum } = this.#limits
    const filter = JSON.stringify(added)
    const held = this.#memory.reserve(client, filter.length + entryBytes)
    if (held === undefined) throw limitReached('Too many filters: they take all memory that is set aside for them')
    if (!this.#places.take(client)) {
      held.release()
      throw tooManyFilters(maximum, this.#places.isFull ? undefined : this.#places.share)
    }
    const id = this.#newId()
    this.#entries.set(id, { filter, client, held, seen, expiresAtMs: this.#nowMs() + expiryMs })
    return id
  }

  async find(id: string): Promise<StoredFilter | undefined> {
    const entry = this.#alive(id)
    if (entry !== undefined) entry.expiresAtMs = this.#nowMs() + this.#limits.expiryMs
    return entry && { filter: JSON.parse(entry.filter) as StoredFilter['filter'], seen: entry.seen }
  }

  async advance(id: string, from: string, to: string): Promise<boolean> {
    const entry = this.#alive(id)
    if (entry?.seen !== from) return false
    entry.seen = to
    return true
  }

  async remove(id: string): Promise<boolean> {
    return this.#alive(id) !== undefined && this.#delete(id)
  }

  async count(): Promise<number> {
    this.removeExpired()
    return this.#entries.size
  }

  /** Removes expired filters. */
  removeExpired(): void {
    const now = this.#nowMs()
    for (const [id, { expiresAtMs }] of this.#entries) if (expiresAtMs <= now) this.#delete(id)
  }

  #alive(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.expiresAtMs > this.#nowMs()) return entry
    this.#delete(id)
    return undefined
  }

  #delete(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined) return false
    entry.held.release()
    this.#places.free(entry.client)
    return this.#entries.delete(id)
  }
}
