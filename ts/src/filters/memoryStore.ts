import { limitReached } from '../rpc/errors.ts'
import { newId } from './newId.ts'
import type { FilterLimits, FilterStore, StoredFilter } from './store.ts'

interface Entry {
  readonly filter: StoredFilter['filter']
  seen: string
  expiresAtMs: number
}

/** The embedded store: filters live as long as the node. */
export class MemoryFilters implements FilterStore {
  readonly #entries = new Map<string, Entry>()
  readonly #limits: FilterLimits
  readonly #nowMs: () => number
  readonly #newId: () => string

  constructor(limits: FilterLimits, nowMs: () => number = () => performance.now(), id: () => string = newId) {
    this.#limits = limits
    this.#nowMs = nowMs
    this.#newId = id
  }

  async add({ filter, seen }: StoredFilter): Promise<string> {
    this.removeExpired()
    const { expiryMs, maximum } = this.#limits
    if (this.#entries.size >= maximum) throw limitReached(`Too many filters: ${maximum} are installed`)
    const id = this.#newId()
    this.#entries.set(id, { filter, seen, expiresAtMs: this.#nowMs() + expiryMs })
    return id
  }

  async find(id: string): Promise<StoredFilter | undefined> {
    const entry = this.#alive(id)
    if (entry !== undefined) entry.expiresAtMs = this.#nowMs() + this.#limits.expiryMs
    return entry && { filter: entry.filter, seen: entry.seen }
  }

  async advance(id: string, from: string, to: string): Promise<boolean> {
    const entry = this.#alive(id)
    if (entry?.seen !== from) return false
    entry.seen = to
    return true
  }

  async remove(id: string): Promise<boolean> {
    return this.#alive(id) !== undefined && this.#entries.delete(id)
  }

  async count(): Promise<number> {
    this.removeExpired()
    return this.#entries.size
  }

  /** Forgets filters that nobody polled for too long. */
  removeExpired(): void {
    const now = this.#nowMs()
    for (const [id, { expiresAtMs }] of this.#entries) if (expiresAtMs <= now) this.#entries.delete(id)
  }

  #alive(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.expiresAtMs > this.#nowMs()) return entry
    this.#entries.delete(id)
    return undefined
  }
}
