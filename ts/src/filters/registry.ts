import type { Cursor } from '../native/feed.ts'
import { filterNotFound, limitReached } from '../rpc/errors.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'
import { LogCursor } from './logCursor.ts'
import type { FilterPort } from './port.ts'
import type { FilterSource } from './source.ts'

export interface FilterLimits {
  readonly expiryMs: number
  readonly maximum: number
}

interface Installed {
  expiresAtMs: number
  /** Polls of one filter run one after the other: each starts where the one before ended. */
  turn: Promise<unknown>
  changes(): string | Promise<string>
  /** All that it tells of, whether it was polled or not. */
  logs(): string | Promise<string>
}

/** All installed filters of the node. One registry serves every worker, so a filter can be polled through any connection. */
export class FilterRegistry implements FilterPort {
  readonly #filters = new Map<string, Installed>()
  readonly #source: FilterSource
  readonly #limits: FilterLimits
  readonly #nowMs: () => number
  readonly #newId: () => string

  /** `newId` gives ids that cannot be guessed: 0x and hex digits. */
  constructor(source: FilterSource, limits: FilterLimits, nowMs: () => number, newId: () => string) {
    this.#source = source
    this.#limits = limits
    this.#nowMs = nowMs
    this.#newId = newId
  }

  get size(): number {
    return this.#filters.size
  }

  async newLogFilter(filter: LogFilter): Promise<string> {
    const cursor = new LogCursor(this.#source, filter)
    await cursor.check()
    return this.#install({ changes: () => cursor.changes(), logs: () => cursor.all() })
  }

  async newBlockFilter(): Promise<string> {
    const installed: Cursor = this.#source.head()
    let seen = installed
    const changes = (): string => {
      const { hashes, cursor } = this.#source.movementSince(seen)
      seen = cursor
      return JSON.stringify(hashes)
    }
    const logs = (): string => {
      const { hashes, cursor } = this.#source.movementSince(installed)
      if (cursor.number < this.#source.head().number) {
        throw limitReached(`The filter is older than ${hashes.length} blocks`)
      }
      return JSON.stringify(hashes)
    }
    return this.#install({ changes, logs })
  }

  async newPendingTransactionFilter(): Promise<string> {
    const installed = this.#source.pendingPosition()
    let seen = installed
    const changes = (): string => {
      const { hashes, position } = this.#source.pendingSince(seen)
      seen = position
      return JSON.stringify(hashes)
    }
    return this.#install({ changes, logs: () => JSON.stringify(this.#source.pendingSince(installed).hashes) })
  }

  async changes(id: string): Promise<string> {
    const filter = this.#find(id)
    const result = filter.turn.then(async () => {
      await this.#source.beforePoll()
      return filter.changes()
    })
    // A failed poll must not fail the ones behind it.
    filter.turn = result.catch(() => undefined)
    return result
  }

  async logs(id: string): Promise<string> {
    return this.#find(id).logs()
  }

  async uninstall(id: string): Promise<string> {
    this.removeExpired()
    return String(this.#filters.delete(id))
  }

  /** Forgets filters that nobody polled for too long. */
  removeExpired(): void {
    const now = this.#nowMs()
    for (const [id, filter] of this.#filters) if (filter.expiresAtMs <= now) this.#filters.delete(id)
  }

  #install(filter: Pick<Installed, 'changes' | 'logs'>): string {
    this.removeExpired()
    if (this.#filters.size >= this.#limits.maximum) {
      throw limitReached(`Too many filters: ${this.#limits.maximum} are installed`)
    }
    const id = this.#newId()
    this.#filters.set(id, { ...filter, turn: Promise.resolve(), expiresAtMs: this.#nowMs() + this.#limits.expiryMs })
    return JSON.stringify(id)
  }

  #find(id: string): Installed {
    const filter = this.#filters.get(id)
    const now = this.#nowMs()
    if (filter === undefined || filter.expiresAtMs <= now) {
      this.#filters.delete(id)
      throw filterNotFound()
    }
    filter.expiresAtMs = now + this.#limits.expiryMs
    return filter
  }
}
