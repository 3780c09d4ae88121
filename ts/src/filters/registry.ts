import type { Cursor } from '../native/feed.ts'
import { filterNotFound, limitReached } from '../rpc/errors.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'
import { installLogFilter, LogReader } from './logFilter.ts'
import type { FilterPort } from './port.ts'
import type { FilterSource } from './source.ts'
import type { FilterStore, PendingSeen, StoredFilter } from './store.ts'
import { UnsurePolls } from './unsurePolls.ts'

/** How often a poll begins again because another node polled the same filter meanwhile. */
const mostTries = 10

/** What a poll tells, and what its caller has seen after it. */
interface Reading {
  readonly result: string
  readonly seen: string
}

/** The installed filters. One registry serves every worker, so a filter can be polled through any connection. */
export class FilterRegistry implements FilterPort {
  readonly #source: FilterSource
  readonly #store: FilterStore
  readonly #node: string
  /** Polls of one filter run one after the other: each starts where the one before ended. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #unsure = new UnsurePolls()

  /** `node` tells this one from others that share the store. */
  constructor(source: FilterSource, store: FilterStore, node: string) {
    this.#source = source
    this.#store = store
    this.#node = node
  }

  async newLogFilter(criteria: LogFilter, client: string): Promise<string> {
    const filter = await installLogFilter(this.#source, criteria)
    return this.#install({ filter, seen: 'null' }, client)
  }

  async newBlockFilter(client: string): Promise<string> {
    const installed = this.#source.head()
    return this.#install({ filter: { kind: 'block', installed }, seen: JSON.stringify(installed) }, client)
  }

  async newPendingTransactionFilter(client: string): Promise<string> {
    const position = this.#source.pendingPosition()
    const seen: PendingSeen = { [this.#node]: { installed: position, seen: position } }
    return this.#install({ filter: { kind: 'pending' }, seen: JSON.stringify(seen) }, client)
  }

  async changes(id: string): Promise<string> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(() => this.#poll(id))
    // A failed poll must not fail the ones behind it.
    const settled = turn.catch(() => undefined)
    this.#turns.set(id, settled)
    try {
      return await turn
    } finally {
      if (this.#turns.get(id) === settled) this.#turns.delete(id)
    }
  }

  async logs(id: string): Promise<string> {
    const { filter, seen } = await this.#find(id)
    if (filter.kind === 'log') return new LogReader(this.#source, filter).all()
    if (filter.kind === 'block') return this.#blocksSince(filter.installed)
    const installed = (JSON.parse(seen) as PendingSeen)[this.#node]?.installed ?? this.#source.pendingPosition()
    return JSON.stringify(this.#source.pendingSince(installed).hashes)
  }

  async uninstall(id: string): Promise<string> {
    return String(await this.#store.remove(id))
  }

  /** Only who advanced the filter from where he read may tell what he has read. */
  async #poll(id: string): Promise<string> {
    for (let tries = 0; tries < mostTries; tries++) {
      const stored = await this.#find(id)
      if (tries === 0) await this.#source.beforePoll()
      const from = this.#unsure.startOf(id, stored.seen)
      const { result, seen } = await this.#read({ ...stored, seen: from })
      const isAdvanced = seen === stored.seen || (await this.#advance(id, stored.seen, seen, from))
      if (isAdvanced) {
        this.#unsure.forget(id)
        return result
      }
    }
    throw limitReached('The filter is polled by others all the time')
  }

  async #advance(id: string, stored: string, seen: string, from: string): Promise<boolean> {
    try {
      return await this.#store.advance(id, stored, seen)
    } catch (error) {
      this.#unsure.add(id, from, seen)
      throw error
    }
  }

  async #read({ filter, seen }: StoredFilter): Promise<Reading> {
    if (filter.kind === 'log') {
      const { logs, cursor } = await new LogReader(this.#source, filter).changes(JSON.parse(seen) as Cursor | null)
      return { result: logs, seen: JSON.stringify(cursor) }
    }
    if (filter.kind === 'block') {
      const { hashes, cursor } = this.#source.movementSince(JSON.parse(seen) as Cursor)
      return { result: JSON.stringify(hashes), seen: JSON.stringify(cursor) }
    }
    return this.#pending(JSON.parse(seen) as PendingSeen)
  }

  /** Pools are not shared: at each node a caller reads the feed of its pool, from the first poll there on. */
  #pending(all: PendingSeen): Reading {
    const now = this.#source.pendingPosition()
    const mine = all[this.#node] ?? { installed: now, seen: now }
    const { hashes, position } = this.#source.pendingSince(mine.seen)
    const seen = { ...all, [this.#node]: { ...mine, seen: position } }
    return { result: JSON.stringify(hashes), seen: JSON.stringify(seen) }
  }

  #blocksSince(installed: Cursor): string {
    const { hashes, cursor } = this.#source.movementSince(installed)
    if (cursor.number < this.#source.head().number) {
      throw limitReached(`The filter is older than ${hashes.length} blocks`)
    }
    return JSON.stringify(hashes)
  }

  async #install(filter: StoredFilter, client: string): Promise<string> {
    return JSON.stringify(await this.#store.add(filter, client))
  }

  async #find(id: string): Promise<StoredFilter> {
    const stored = await this.#store.find(id)
    if (stored === undefined) throw filterNotFound()
    return stored
  }
}
