import type { Cursor, Movement } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'
import { invalidParams, RpcError } from '../rpc/errors.ts'
import { checkKept, isDepthTag, type LogFilter } from '../rpc/parameters/logFilter.ts'
import type { FilterSource } from './source.ts'
import type { LogFilterData } from './store.ts'

const nothing = '[]'

/** Logs and the block up to which they were read. */
interface Reading {
  readonly cursor: Cursor
  readonly logs: string
}

/** Returns a new log filter. Throws RpcError if the range is reversed, or the criteria or the first poll are too large. */
export async function installLogFilter(
  source: FilterSource,
  requested: LogFilter,
  maxBytes: number,
): Promise<LogFilterData> {
  checkKept(requested)
  const criteria = withHeights(source, requested)
  const head = source.head().number
  const from = firstBlock(criteria.fromBlock, head)
  const to = lastBlock(criteria.toBlock)
  if (to !== null && to < (from > head ? head : from)) {
    throw invalidParams('fromBlock cannot be greater than toBlock')
  }
  const filter: LogFilterData = { kind: 'log', criteria, from, to }
  if (criteria.blockHash === undefined) await new LogReader(source, filter, maxBytes).range(from, head)
  return filter
}

/** Reads the logs of a filter, at most `maxBytes` of JSON. Keeps no logs, only the cursor of its last poll. */
export class LogReader {
  readonly #source: FilterSource
  readonly #filter: LogFilterData
  readonly #maxBytes: number

  constructor(source: FilterSource, filter: LogFilterData, maxBytes: number) {
    this.#source = source
    this.#filter = filter
    this.#maxBytes = maxBytes
  }

  /** Returns the logs since a cursor (null: the first poll): first removed logs of a reorganization, then new ones. */
  async changes(seen: Cursor | null): Promise<Reading> {
    if (this.#filter.criteria.blockHash !== undefined) return this.#onceByHash(seen)
    for (;;) {
      const reading = seen === null ? await this.#first() : await this.#since(seen)
      // The search reads the main chain, which may have changed during the search.
      if (this.#isMain(reading.cursor)) return reading
    }
  }

  /** Returns all matching logs, like eth_getLogs with the same filter. */
  async all(): Promise<string> {
    return textOf(await this.#source.logs(JSON.stringify(this.#filter.criteria), this.#maxBytes))
  }

  async range(from: number, head: number, maxBytes = this.#maxBytes): Promise<string> {
    const to = Math.min(this.#last, head)
    if (from > to) return nothing
    return textOf(await this.#source.logs(this.#query({ fromBlock: hex(from), toBlock: hex(to) }), maxBytes))
  }

  get #last(): number {
    return this.#filter.to ?? Number.POSITIVE_INFINITY
  }

  async #first(): Promise<Reading> {
    const cursor = this.#source.head()
    return { cursor, logs: await this.range(this.#filter.from, cursor.number) }
  }

  /** Reads as many blocks as fit. The next poll continues behind them. */
  async #since(seen: Cursor): Promise<Reading> {
    let most: number | undefined
    for (;;) {
      const movement = this.#source.movementSince(seen, most)
      const removed = await this.#removed(movement)
      try {
        return { cursor: movement.cursor, logs: joined([removed, await this.#added(movement, removed)]) }
      } catch (error) {
        most = fittingBlocks(error, movement)
        // Removed logs alone are progress, too.
        if (most === 0 && movement.removed.length === 0) throw error
      }
    }
  }

  async #removed({ removed, hashes, cursor }: Movement): Promise<string> {
    const fork = cursor.number - hashes.length
    const wanted = removed.filter((_hash, index) => {
      const number = fork + removed.length - index
      return number >= this.#filter.from && number <= this.#last
    })
    if (wanted.length === 0) return nothing
    return textOf(await this.#source.removedLogs(wanted, this.#query({}), this.#maxBytes))
  }

  async #added({ hashes, cursor }: Movement, removed: string): Promise<string> {
    if (hashes.length === 0) return nothing
    const first = cursor.number - hashes.length + 1
    const used = removed === nothing ? 0 : removed.length
    return this.range(Math.max(first, this.#filter.from), cursor.number, Math.max(0, this.#maxBytes - used))
  }

  #isMain(cursor: Cursor): boolean {
    const { removed, hashes, cursor: now } = this.#source.movementSince(cursor)
    return removed.length === 0 && now.number === cursor.number + hashes.length
  }

  async #onceByHash(seen: Cursor | null): Promise<Reading> {
    if (seen !== null) return { cursor: seen, logs: nothing }
    const logs = textOf(await this.#source.logs(this.#query({}), this.#maxBytes))
    return { cursor: this.#source.head(), logs }
  }

  #query(blocks: Pick<LogFilter, 'fromBlock' | 'toBlock' | 'blockHash'>): string {
    const { blockHash, address, topics } = this.#filter.criteria
    return JSON.stringify({ ...(blockHash !== undefined && { blockHash }), ...blocks, address, topics })
  }
}

/**
 * Returns the number of new blocks whose logs fit into an answer, by the error of a search that was too large. Throws any other
 * error, and that of a search without new blocks.
 */
function fittingBlocks(error: unknown, { hashes, cursor }: Movement): number {
  const data = error instanceof RpcError ? (error.data as { toBlock?: string | null } | undefined) : undefined
  if (data?.toBlock === undefined || hashes.length === 0) throw error
  return data.toBlock === null ? 0 : Number(data.toBlock) - (cursor.number - hashes.length)
}

/** Replaces the tags safe and finalized by their heights: the blocks of a filter do not move with the head. */
function withHeights(source: FilterSource, filter: LogFilter): LogFilter {
  const { fromBlock, toBlock } = filter
  const height = (tag: string) => hex(source.taggedHeight(tag))
  return {
    ...filter,
    ...(isDepthTag(fromBlock) && { fromBlock: height(fromBlock) }),
    ...(isDepthTag(toBlock) && { toBlock: height(toBlock) }),
  }
}

function firstBlock(bound: string | undefined, head: number): number {
  // The caller knows the current head: a filter without `fromBlock` starts behind it.
  if (bound === undefined || bound === 'latest' || bound === 'pending') return head + 1
  return numberOf(bound)
}

function lastBlock(bound: string | undefined): number | null {
  return bound === undefined || bound === 'latest' || bound === 'pending' ? null : numberOf(bound)
}

function numberOf(bound: string): number {
  if (bound === 'earliest') return 0
  if (bound.length === 66) throw invalidParams(`invalid blocknumber ${bound}`)
  return Number(bound)
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}

function textOf(answer: Answer): string {
  return typeof answer === 'string' ? answer : answer.toString('latin1')
}

/** Joins JSON arrays. */
function joined(arrays: readonly string[]): string {
  const inner = arrays.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${inner.join(',')}]`
}
