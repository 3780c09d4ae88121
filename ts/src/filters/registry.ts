import type { Cursor } from '../native/feed.ts'
import { filterNotFound, limitReached, responseTooLarge } from '../rpc/errors.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'
import { installLogFilter, type LogCursor, LogReader } from './logFilter.ts'
import type { FilterPort } from './port.ts'
import type { FilterSource } from './source.ts'
import type { FilterStore, PendingSeen, StoredFilter } from './store.ts'
import { UnsurePolls } from './unsurePolls.ts'

/** Maximum number of retries of a poll after another node has polled the same filter. */
const mostTries = 10

/** Result of a poll, and the cursor after it. */
interface Reading {
  readonly result: string
  readonly seen: string
}

/** Installed filters. One registry serves all workers, so a filter can be polled through any connection. */
export class FilterRegistry implements FilterPort {
  readonly #source: FilterSource
  readonly #store: FilterStore
  readonly #node: string
  /** Last poll of each filter. Polls of one filter run one after another, each from the cursor of the previous one. */
  readonly #polls = new Map<string, Promise<unknown>>()
  readonly #unsure = new UnsurePolls()

  /** `node` identifies this node among the nodes of a shared store. */
  constructor(source: FilterSource, store: FilterStore, node: string) {
    this.#source = source
    this.#store = store
    this.#node = node
  }

  async newLogFilter(criteria: LogFilter, client: string, maxBytes: number): Promise<string> {
    const { filter, seen } = await installLogFilter(this.#source, criteria, maxBytes)
    return this.#install({ filter, seen: JSON.stringify(seen) }, client)
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

  async changes(id: string, maxBytes: number): Promise<string> {
    const poll = (this.#polls.get(id) ?? Promise.resolve()).then(() => this.#poll(id, maxBytes))
    // A failed poll must not fail later polls.
    const settled = poll.catch(() => undefined)
    this.#polls.set(id, settled)
    try {
      return await poll
    } finally {
      if (this.#polls.get(id) === settled) this.#polls.delete(id)
    }
  }

  async logs(id: string, maxBytes: number): Promise<string> {
    const { filter, seen } = await this.#find(id)
    if (filter.kind === 'log') return new LogReader(this.#source, filter, maxBytes).all()
    if (filter.kind === 'block') return this.#blocksSince(filter.installed)
    const installed = (JSON.parse(seen) as PendingSeen)[this.#node]?.installed ?? this.#source.pendingPosition()
    return JSON.stringify(this.#source.pendingSince(installed).hashes)
  }

  async uninstall(id: string): Promise<string> {
    return String(await this.#store.remove(id))
  }

  /** Polls a filter. The result is returned only if this poll advanced the cursor from its start: else another poll has it. */
  async #poll(id: string, maxBytes: number): Promise<string> {
    for (let tries = 0; tries < mostTries; tries++) {
      const stored = await this.#find(id)
      if (tries === 0) await this.#source.beforePoll()
      const from = this.#unsure.startOf(id, stored.seen)
      const { result, seen } = await this.#read({ ...stored, seen: from }, maxBytes)
      // A result that is not sent must not advance the cursor.
      if (result.length > maxBytes) throw responseTooLarge(maxBytes)
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

  async #read({ filter, seen }: StoredFilter, maxBytes: number): Promise<Reading> {
    if (filter.kind === 'log') {
      const reader = new LogReader(this.#source, filter, maxBytes)
      const { logs, cursor } = await reader.changes(JSON.parse(seen) as LogCursor | null)
      return { result: logs, seen: JSON.stringify(cursor) }
    }
    if (filter.kind === 'block') {
      const { hashes, cursor } = this.#source.movementSince(JSON.parse(seen) as Cursor)
      return { result: JSON.stringify(hashes), seen: JSON.stringify(cursor) }
    }
    return this.#pending(JSON.parse(seen) as PendingSeen)
  }

  /** Nodes do not share pools: a poll reads the feed of the polled node, from the first poll there on. */
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
