import type { Cursor } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'
import { code, invalidParams, RpcError, responseTooLarge } from '../rpc/errors.ts'
import { checkKept, isDepthTag, type LogFilter } from '../rpc/parameters/logFilter.ts'
import type { FilterSource } from './source.ts'
import type { LogFilterData } from './store.ts'

const nothing = '[]'

/** Last block that a poll returned. */
export interface LogCursor extends Cursor {
  /** Number of its logs that the caller has. Absent: all. */
  readonly logs?: number
}

/** Logs and the block up to which they were read. */
interface Reading {
  readonly cursor: LogCursor
  readonly logs: string
}

/**
 * Returns a new log filter and the start of its first poll. Throws RpcError if the range is reversed, or the criteria or
 * the first poll are too large.
 */
export async function installLogFilter(
  source: FilterSource,
  requested: LogFilter,
  maxBytes: number,
): Promise<{ readonly filter: LogFilterData; readonly seen: Cursor | null }> {
  checkKept(requested)
  const criteria = withHeights(source, requested)
  const head = source.head()
  const from = firstBlock(criteria.fromBlock)
  const to = lastBlock(criteria.toBlock)
  if (to !== null && to < Math.min(from ?? head.number, head.number))
    throw invalidParams('fromBlock cannot be greater than toBlock')
  const filter: LogFilterData = { kind: 'log', criteria, from: from ?? 0, to }
  if (criteria.blockHash !== undefined) return { filter, seen: null }
  // The caller knows the current head: only changes behind it follow, also a block that replaces it.
  if (from === undefined) return { filter, seen: head }
  await new LogReader(source, filter, maxBytes).range(from, head.number)
  return { filter, seen: null }
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
  async changes(seen: LogCursor | null): Promise<Reading> {
    if (this.#filter.criteria.blockHash !== undefined) return this.#onceByHash(seen)
    for (;;) {
      const removed = seen === null ? undefined : await this.#removedSince(seen)
      // Found by the hashes of their blocks: they are removed, whatever the main chain is by now.
      if (removed?.isPart === true) return removed
      const reading = await (removed === undefined ? this.#first() : this.#addedSince(removed))
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

  /** Reads as many existing blocks as fit. The next poll continues behind them. */
  async #first(): Promise<Reading> {
    let most = Number.POSITIVE_INFINITY
    for (;;) {
      const head = this.#source.head()
      const cursor = head.number <= most ? head : this.#source.mainCursor(most)
      try {
        return { cursor, logs: await this.range(this.#filter.from, cursor.number) }
      } catch (error) {
        const last = lastFitting(error)
        if (last === null && cursor.number === this.#filter.from) return this.#part(cursor, error)
        most = last ?? this.#filter.from
      }
    }
  }

  /** Reads the logs of a block that the caller lacks, as many as fit. */
  async #part({ logs: first = 0, ...block }: LogCursor, error: unknown): Promise<Reading> {
    const found = await this.#source.logs(this.#query({ blockHash: block.hash }), Number.MAX_SAFE_INTEGER)
    const rest = logsOf(textOf(found)).slice(first)
    const count = fitting(rest, this.#maxBytes)
    if (count === 0) throw error
    const isPart = count < rest.length
    return { cursor: isPart ? { ...block, logs: first + count } : block, logs: arrayOf(rest.slice(0, count)) }
  }

  /** Reads the removed logs of as many blocks as fit, from the highest down. `isPart`: the next poll continues below them. */
  async #removedSince(seen: LogCursor): Promise<Reading & { readonly isPart: boolean }> {
    let most = Number.POSITIVE_INFINITY
    let failure: unknown = responseTooLarge(this.#maxBytes)
    for (;;) {
      const { removed, cursor: fork } = this.#source.movementSince(seen, 0)
      // With a shared store, another node may have had a block that this one lacks.
      const sent = (removed[0] ?? fork.hash) === seen.hash ? seen.logs : undefined
      if (sent !== undefined && removed.length === 0) return { ...(await this.#part(seen, failure)), isPart: true }
      if (sent !== undefined) most = 1
      const left = removed.slice(most).reverse()
      const isPart = left.length > 0
      const hashes = removed.slice(0, most)
      const wanted = hashes.filter((_hash, index) => {
        const number = fork.number + removed.length - index
        return number >= this.#filter.from && number <= this.#last
      })
      try {
        const cursor = isPart ? this.#source.branchCursor(fork, left) : fork
        if (wanted.length === 0) return { cursor, logs: nothing, isPart }
        if (most > 1) return { cursor, logs: textOf(await this.#removed(wanted, this.#maxBytes)), isPart }
        // One block, from its last log down: the caller has the first ones until the next poll.
        const found = logsOf(textOf(await this.#removed(wanted, Number.MAX_SAFE_INTEGER))).slice(0, sent)
        const kept = found.length - fitting(found.toReversed(), this.#maxBytes)
        if (kept === found.length && kept > 0) throw failure
        const logs = arrayOf(found.slice(kept))
        if (kept === 0) return { cursor, logs, isPart }
        const block = this.#source.branchCursor(fork, removed.toReversed())
        return { cursor: { ...block, logs: kept }, logs, isPart: true }
      } catch (error) {
        // The error does not name the blocks that fit.
        const isTooLarge = error instanceof RpcError && error.code === code.logLimitExceeded
        if (!isTooLarge || most === 1) throw error
        failure = error
        most = Math.ceil(hashes.length / 2)
      }
    }
  }

  #removed(hashes: readonly string[], maxBytes: number): Promise<Answer> {
    return this.#source.removedLogs(hashes, this.#query({}), maxBytes)
  }

  /** Adds the logs of as many new blocks as fit to removed logs. The next poll continues behind them. */
  async #addedSince(removed: Reading): Promise<Reading> {
    const used = removed.logs === nothing ? 0 : removed.logs.length
    const room = Math.max(0, this.#maxBytes - used)
    let most: number | undefined
    for (;;) {
      const { hashes, cursor } = this.#source.movementSince(removed.cursor, most)
      const below = cursor.number - hashes.length
      if (hashes.length === 0) return { cursor, logs: removed.logs }
      try {
        const added = await this.range(Math.max(below + 1, this.#filter.from), cursor.number, room)
        return { cursor, logs: joined([removed.logs, added]) }
      } catch (error) {
        const last = lastFitting(error)
        // Removed logs alone are progress, too.
        if (last === null && used > 0) return removed
        if (last === null && hashes.length === 1) return this.#part(cursor, error)
        most = last === null ? 1 : last - below
      }
    }
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

/** Returns the last block whose logs fit into an answer, by the error of a search, null if there is none. Throws any other error. */
function lastFitting(error: unknown): number | null {
  const data = error instanceof RpcError ? (error.data as { toBlock?: string | null } | undefined) : undefined
  if (data?.toBlock === undefined) throw error
  return data.toBlock === null ? null : Number(data.toBlock)
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

/** Returns undefined for a filter that starts behind the head. */
function firstBlock(bound: string | undefined): number | undefined {
  return bound === undefined || bound === 'latest' || bound === 'pending' ? undefined : numberOf(bound)
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

/** Returns the logs in a JSON array of them, without their braces. No text in a log has braces. */
function logsOf(array: string): string[] {
  return array === nothing ? [] : array.slice(2, -2).split('},{')
}

function arrayOf(logs: readonly string[]): string {
  return logs.length === 0 ? nothing : `[{${logs.join('},{')}}]`
}

/** Returns the number of logs, from the first on, whose array has at most `maxBytes`. */
function fitting(logs: readonly string[], maxBytes: number): number {
  let bytes = 1
  const first = logs.findIndex((log) => {
    bytes += log.length + 3
    return bytes > maxBytes
  })
  return first === -1 ? logs.length : first
}

/** Joins JSON arrays. */
function joined(arrays: readonly string[]): string {
  const inner = arrays.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${inner.join(',')}]`
}
