import { code, invalidRequest, RpcError } from './errors.ts'
import { exactId, exactIds } from './ids.ts'
import { isParsedTooDeep, isTooDeep } from './levels.ts'
import { LongAnswer, type Message } from './longAnswer.ts'
import { elementSpans, memberSpan, skipSpace } from './spans.ts'

/**
 * Finished JSON text of a result. Long ones are bytes and never become a string. A `Buffer` belongs to one answer, and may be freed
 * when that was sent, unless it is a `sharedText`.
 */
export type Answer = string | Buffer

/** Text for functions of the core: a string, or a part of a large body. */
export type CoreText = string | object

/** Request of a body. `id` is the JSON text to echo, or null for a notification, which gets no answer. */
export interface Call {
  readonly id: string | null
  readonly method: string
  /** Positional parameters; undefined if they were sent by name. */
  readonly params: readonly unknown[] | undefined
  /** Returns the JSON text of a parameter as it was sent, for the core. */
  paramText(index: number): CoreText
}

/** Element of a body that is not a request, with its error. */
export interface Refused {
  readonly id: string
  readonly error: RpcError
}

export type Parsed =
  | { readonly kind: 'single'; readonly call: Call | Refused }
  | { readonly kind: 'batch'; readonly calls: readonly (Call | Refused)[] }

const noParams: readonly unknown[] = []

/**
 * Reads a small body: one request, a batch, or an error for the whole body (a single `Refused` with id null). The core
 * splits large bodies.
 */
export function parse(body: string, maxBatchRequests: number): Parsed {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    if (isTooDeep(body)) return bodyRefusal(tooDeep())
    const reason = error instanceof Error ? error.message : String(error)
    return bodyRefusal(new RpcError(code.parseError, 'JSON parse error', undefined, reason))
  }
  if (isParsedTooDeep(body, value)) return bodyRefusal(tooDeep())
  if (Array.isArray(value)) return parseBatch(value, body, maxBatchRequests)
  const request = readRequest(value)
  if ('error' in request) return { kind: 'single', call: { id: exactId(request.id, body), error: request.error } }
  const { id } = request
  const exact = id === undefined ? null : exactId(id, body)
  return { kind: 'single', call: new SmallCall(exact, request, new SmallBody(body, false), 0) }
}

/** Returns the error for a body that nests too deeply. */
export function tooDeep(): RpcError {
  return invalidRequest('Invalid request', 'expected at most 64 levels')
}

function parseBatch(elements: unknown[], body: string, maxBatchRequests: number): Parsed {
  if (elements.length === 0) return bodyRefusal(invalidRequest())
  // Elements that are not requests cost little: 20 of them count as one request.
  const count = Math.max(elements.filter(hasMethod).length, elements.length / 20)
  if (count > maxBatchRequests) return bodyRefusal(batchTooLong(maxBatchRequests))
  const requests = elements.map(readRequest)
  const ids = exactIds(
    requests.map((request) => request.id ?? null),
    body,
  )
  const source = new SmallBody(body, true)
  const calls = requests.map((request, index): Call | Refused => {
    const id = ids[index] ?? 'null'
    if ('error' in request) return { id, error: request.error }
    return new SmallCall(request.id === undefined ? null : id, request, source, index)
  })
  return { kind: 'batch', calls }
}

/** Small body, with the spans of its parameters for the requests that need them. */
class SmallBody {
  readonly #text: string
  readonly #isBatch: boolean
  #requests: readonly number[] | undefined

  constructor(text: string, isBatch: boolean) {
    this.#text = text
    this.#isBatch = isBatch
  }

  /** Returns the JSON text of a parameter of a request. */
  paramText(request: number, index: number): string {
    const start = skipSpace(this.#text, 0)
    if (this.#isBatch) this.#requests ??= elementSpans(this.#text, start)
    const params = memberSpan(this.#text, this.#requests?.[2 * request] ?? start, 'params')?.[0] ?? 0
    const spans = elementSpans(this.#text, params)
    return this.#text.slice(spans[2 * index], spans[2 * index + 1])
  }
}

/** Request of a small body. */
class SmallCall implements Call {
  readonly id: string | null
  readonly method: string
  readonly params: readonly unknown[] | undefined
  readonly #body: SmallBody
  readonly #index: number

  /** `index` is the position of the request in a batch. */
  constructor(id: string | null, { method, params }: Read, body: SmallBody, index: number) {
    this.id = id
    this.method = method
    this.params = params
    this.#body = body
    this.#index = index
  }

  paramText(index: number): string {
    return this.#body.paramText(this.#index, index)
  }
}

function hasMethod(element: unknown): boolean {
  return typeof element === 'object' && element !== null && 'method' in element
}

interface Read {
  readonly id: string | number | null | undefined
  readonly method: string
  readonly params: readonly unknown[] | undefined
}

function readRequest(value: unknown): Read | { id: string | number | null; error: RpcError } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { id: null, error: faults.object }
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return { id: null, error: faults.id }
  }
  const known = id ?? null
  if (jsonrpc !== undefined && jsonrpc !== '2.0') return { id: known, error: faults.version }
  if (typeof method !== 'string') return { id: known, error: faults.method }
  if (Array.isArray(params)) return { id, method, params }
  if (params === undefined || params === null) return { id, method, params: noParams }
  if (typeof params !== 'object') return { id: known, error: faults.params }
  return { id, method, params: Object.keys(params).length === 0 ? noParams : undefined }
}

/** Faults of a request, in the order of the fault numbers of the core. Made once: a batch can have hundreds. */
const faults = {
  none: undefined,
  object: invalidRequest(),
  id: invalidRequest('invalid request', 'id: expected a string, a number or null'),
  version: invalidRequest('invalid request', 'jsonrpc: expected "2.0"'),
  method: invalidRequest('invalid request', 'method: expected a string'),
  params: invalidRequest('invalid request', 'params: expected an array'),
} as const

/** Error by fault number of the core; 0: no fault. */
export const requestFaults: readonly (RpcError | undefined)[] = Object.values(faults)

/** Returns the error for a batch with too many requests. */
export function batchTooLong(most: number): RpcError {
  return invalidRequest(`Cannot dispatch batch requests. ${most} is the max number of supported batch requests`)
}

/** Returns an error for a whole body. */
export function bodyRefusal(error: RpcError): Parsed {
  return { kind: 'single', call: { id: 'null', error } }
}

/** Wraps a finished result in its envelope without parsing it. */
export function writeResult(id: string, result: Answer): Message {
  const head = `{"jsonrpc":"2.0","id":${id},"result":`
  const isShort = typeof result === 'string' && result.length < pieceLength
  return isShort ? `${head}${result}}` : new LongAnswer([head, result, '}'])
}

/** Shorter texts are joined: that takes less time than sending pieces. */
const pieceLength = 16_384
/** The same for the answers of a batch, which are many short pieces. */
const joinedLength = 131_072

/** Returns an error with its envelope. `withHint` adds location of the fault and expected value to the message. */
export function writeError(id: string, error: RpcError, withHint: boolean): string {
  const message = withHint && error.hint !== undefined ? `${error.message} (${error.hint})` : error.message
  const data = error.data === undefined ? '' : `,"data":${JSON.stringify(error.data)}`
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${error.code},"message":${JSON.stringify(message)}${data}}}`
}

/** Returns the answers of a batch as an array, undefined if there are none. */
export function writeBatch(answers: readonly Message[]): Message | undefined {
  if (answers.length === 0) return undefined
  let length = 0
  let isText = true
  for (const answer of answers) {
    length += answer.length
    isText &&= typeof answer === 'string'
  }
  if (isText && length < joinedLength) return `[${answers.join(',')}]`
  const pieces = answers.flatMap((answer, index) => [index === 0 ? '[' : ',', ...LongAnswer.piecesOf(answer)])
  return new LongAnswer([...pieces, ']'])
}
