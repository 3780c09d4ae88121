import type { Cursor } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'
import { invalidParams } from '../rpc/errors.ts'
import { checkKept, type LogFilter } from '../rpc/parameters/logFilter.ts'
import type { FilterSource } from './source.ts'

const nothing = '[]'

/** A log filter: what it takes, and how far its caller has read. Logs are not kept but looked up when they are asked for. */
export class LogCursor {
  readonly #source: FilterSource
  readonly #filter: LogFilter
  readonly #from: number
  readonly #to: number
  /** Undefined until the first poll, which also brings the logs that were there before. */
  #seen: Cursor | undefined

  /** Throws RpcError when the range is reversed or the criteria are too large. */
  constructor(source: FilterSource, filter: LogFilter) {
    checkKept(filter)
    this.#source = source
    this.#filter = filter
    const head = source.head().number
    this.#from = firstBlock(filter.fromBlock, head)
    this.#to = lastBlock(filter.toBlock)
    const isFromHead = this.#from > head
    if (this.#to < (isFromHead ? head : this.#from)) {
      throw invalidParams('fromBlock cannot be greater than toBlock')
    }
  }

  /** Throws RpcError when the logs that are there already are more than one poll may bring. */
  async check(): Promise<void> {
    if (this.#filter.blockHash === undefined) await this.#range(this.#from, this.#source.head().number)
  }

  /** What came since the last call: first the logs that a reorganisation removed, then the new ones. */
  async changes(): Promise<string> {
    if (this.#filter.blockHash !== undefined) return this.#onceByHash()
    for (;;) {
      const { cursor, logs } = this.#seen === undefined ? await this.#first() : await this.#since(this.#seen)
      // The search read the main chain as it was then: when it has changed meanwhile, that was another one.
      if (this.#isMain(cursor)) {
        this.#seen = cursor
        return logs
      }
    }
  }

  async #first(): Promise<Reading> {
    const cursor = this.#source.head()
    return { cursor, logs: await this.#range(this.#from, cursor.number) }
  }

  async #since(seen: Cursor): Promise<Reading> {
    const { removed, hashes, cursor } = this.#source.movementSince(seen)
    const parts: string[] = []
    const wanted = removed.filter(
      (_hash, index) => seen.number - index >= this.#from && seen.number - index <= this.#to,
    )
    if (wanted.length > 0) parts.push(textOf(await this.#source.removedLogs(wanted, this.#query({}))))
    if (hashes.length > 0) {
      const firstNew = cursor.number - hashes.length + 1
      parts.push(await this.#range(Math.max(firstNew, this.#from), cursor.number))
    }
    return { cursor, logs: joined(parts) }
  }

  #isMain(cursor: Cursor): boolean {
    const { removed, hashes, cursor: now } = this.#source.movementSince(cursor)
    return removed.length === 0 && now.number === cursor.number + hashes.length
  }

  /** Everything that matches now: what eth_getLogs says of the same filter. */
  async all(): Promise<string> {
    return textOf(await this.#source.logs(JSON.stringify(this.#filter)))
  }

  async #onceByHash(): Promise<string> {
    if (this.#seen !== undefined) return nothing
    const logs = textOf(await this.#source.logs(this.#query({})))
    this.#seen = this.#source.head()
    return logs
  }

  async #range(from: number, head: number): Promise<string> {
    const to = Math.min(this.#to, head)
    if (from > to) return nothing
    return textOf(await this.#source.logs(this.#query({ fromBlock: hex(from), toBlock: hex(to) })))
  }

  #query(blocks: Pick<LogFilter, 'fromBlock' | 'toBlock' | 'blockHash'>): string {
    const { blockHash, address, topics } = this.#filter
    return JSON.stringify({ ...(blockHash !== undefined && { blockHash }), ...blocks, address, topics })
  }
}

/** Logs, and the block up to which they were read. */
interface Reading {
  readonly cursor: Cursor
  readonly logs: string
}

function firstBlock(bound: string | undefined, head: number): number {
  // What is latest now is known to the caller: a filter without a beginning brings what comes from now on.
  if (bound === undefined || bound === 'latest' || bound === 'pending') return head + 1
  return numberOf(bound)
}

function lastBlock(bound: string | undefined): number {
  if (bound === undefined || bound === 'latest' || bound === 'pending') return Number.POSITIVE_INFINITY
  return numberOf(bound)
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

/** One JSON array of several. */
function joined(arrays: readonly string[]): string {
  const inner = arrays.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${inner.join(',')}]`
}
