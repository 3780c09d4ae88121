import { batchTooLong, bodyRefusal, type Call, type Parsed, type Refused, requestFaults, tooDeep } from './envelope.ts'
import { code, invalidRequest, RpcError } from './errors.ts'
import { type LargeBody, maxParsedBytes } from './largeBody.ts'
import { LargeText } from './largeText.ts'

/** Spans of the requests of a large body, or its fault: see `crates/answers/src/body.rs`. */
type Split =
  | { readonly fault: 'NotJson' | 'TooDeep' | 'TooManyValues' | 'EmptyBatch' | 'LongBatch' }
  | { readonly isBatch: boolean; readonly requests: readonly (readonly number[])[] }

/** Longer ids are rejected: they would be copied into an answer in one step. */
const maxIdBytes = 131_072
/** Maximum size of a method name, escapes included. */
const maxMethodBytes = 512

/** Returns the requests of a large body. Parameters are parsed when they are read. */
export function readSplit(body: LargeBody, spans: string, maxBatchRequests: number): Parsed {
  const split = JSON.parse(spans) as Split
  if ('fault' in split) return bodyRefusal(refusalOf(split.fault, maxBatchRequests))
  const calls = split.requests.map((spans) => callAt(body, spans))
  return split.isBatch ? { kind: 'batch', calls } : { kind: 'single', call: calls[0] as Call | Refused }
}

function refusalOf(fault: Extract<Split, { fault: unknown }>['fault'], maxBatchRequests: number): RpcError {
  if (fault === 'NotJson') return new RpcError(code.parseError, 'JSON parse error')
  if (fault === 'TooDeep') return tooDeep()
  if (fault === 'TooManyValues') return invalidRequest('Invalid request', 'expected at most 50000 values')
  return fault === 'EmptyBatch' ? invalidRequest() : batchTooLong(maxBatchRequests)
}

function callAt(body: LargeBody, [fault = 0, idStart = 0, idEnd = 0, ...spans]: readonly number[]): Call | Refused {
  if (idEnd - idStart > maxIdBytes) {
    return { id: 'null', error: invalidRequest('invalid request', `id: expected at most ${maxIdBytes} bytes`) }
  }
  const id = idEnd === 0 ? null : body.text(idStart, idEnd)
  const error = requestFaults[fault]
  return error === undefined ? new SplitCall(body, id, spans) : { id: id ?? 'null', error }
}

/** Request of a large body. */
class SplitCall implements Call {
  readonly id: string | null
  readonly method: string
  readonly #body: LargeBody
  readonly #spans: readonly number[]

  constructor(body: LargeBody, id: string | null, [start = 0, end = 0, ...spans]: readonly number[]) {
    this.id = id
    // A longer text cannot be a known method.
    this.method = end - start > maxMethodBytes ? '' : (JSON.parse(body.text(start, end)) as string)
    this.#body = body
    this.#spans = spans
  }

  /** Parsed at each call: objects of thousands of waiting requests would be copied by garbage collections, for 20 ms. */
  get params(): readonly unknown[] | undefined {
    const [count = 0, ...spans] = this.#spans
    return count < 0 ? undefined : this.#read(count, spans)
  }

  paramText(index: number): object {
    const [start = 0, end = 0] = this.#spans.slice(1 + 2 * index)
    return this.#body.part(start, end)
  }

  #read(count: number, spans: readonly number[]): readonly unknown[] {
    const values: unknown[] = new Array(count)
    let parsedBytes = 0
    for (let at = 0; at + 1 < spans.length; at += 2) {
      const [start, end] = [spans[at] ?? 0, spans[at + 1] ?? 0]
      // Small parameters after a large one are still parsed: only parsed bytes count.
      const isLarge = parsedBytes + end - start > maxParsedBytes
      if (!isLarge) parsedBytes += end - start
      values[at / 2] = isLarge
        ? new LargeText(this.#body, start, end)
        : (JSON.parse(this.#body.text(start, end)) as unknown)
    }
    return values
  }
}
