import { codesOnly, difference, type Failure, isTree, short } from './compare.ts'
import { changeAt } from './paths.ts'
import type { Product, Step } from './transcript.ts'

/** An answer: an HTTP response, a message, or the end of a connection. */
export interface Got {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body; undefined if it is empty. */
  readonly body: unknown
  readonly closed?: { readonly code: number; readonly reason: string }
}

/** Sends another request at the same point of the replay; returns its result or its error. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/** State from earlier steps. */
export interface Memory {
  /** Captured variables. */
  readonly captured: ReadonlyMap<string, unknown>
  /** Items that exist in the recording but not here, because this node was allowed to refuse them: lists lack them. */
  readonly refused: ReadonlySet<unknown>
}

/** Compares an answer with a step. Returns the difference, or undefined. */
export async function judge(step: Step, got: Got, memory: Memory, ask: Ask): Promise<Failure | undefined> {
  const level = step.conformance?.level ?? 'exact'
  const product = step.conformance?.product
  const recorded = asRecorded(step, got, memory)
  if (level === 'exact' || product === undefined) return recorded
  if (level === 'may' && recorded === undefined) return undefined
  const better = await asProduct(step, product, got, recorded, memory, ask)
  if (level === 'fix' || better === undefined) return better
  return { ...better, expected: `as recorded, or ${better.expected}` }
}

function asRecorded(step: Step, got: Got, memory: Memory): Failure | undefined {
  if (step.closed !== undefined || got.closed !== undefined) {
    return difference(step.closed?.code, got.closed?.code, 'code of the closed connection')
  }
  const status = step.httpStatus === undefined ? undefined : difference(step.httpStatus, got.status, 'HTTP status')
  return status ?? comparedHeaders(step, got) ?? comparedBodies(step, got, memory)
}

/** Media type and CORS headers. */
function comparedHeaders(step: Step, got: Got): Failure | undefined {
  if (step.responseHeaders === undefined) return undefined
  const isCompared = (name: string): boolean => name === 'content-type' || name.startsWith('access-control-')
  const chosen = (headers: Readonly<Record<string, string>>): unknown =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => isCompared(name)))
  return difference(chosen(step.responseHeaders), chosen(got.headers ?? {}), 'headers')
}

function comparedBodies(step: Step, got: Got, memory: Memory): Failure | undefined {
  const isExactText = step.response === undefined || step.response === '' || hasLargeId(step.response)
  // For compressed bodies, the recording has only their length.
  const isCompressed = /^\(\w+, \d+ bytes\)$/.test(step.responseText ?? '')
  if (isExactText && !isCompressed && (step.responseText !== undefined || step.response === '')) {
    return difference((step.responseText ?? '').trim(), got.text.trim(), 'text')
  }
  if (isCompressed) return undefined
  // The reference omits the envelope of some refusals. This node never does (D7).
  const isNaked = isTree(step.response) && 'error' in step.response && !('jsonrpc' in step.response)
  if (isNaked) return difference(step.response, isTree(got.body) ? { error: got.body.error } : got.body)
  const { conformance, volatile = [], unordered = [], expectBinds = {} } = step
  const expected = { response: structuredClone(step.response) }
  const compared = { response: structuredClone(got.body) }
  if (conformance?.withRemoved === true) expected.response = withRemoved(expected.response)
  const names = new Map([...memory.captured].map(([name, value]) => [value, `captured ${name}`]))
  compared.response = renamed(compared.response, names)
  for (const [path, name] of Object.entries(expectBinds)) changeAt(expected, path, () => `captured ${name}`)
  expected.response = without(memory.refused, expected.response)
  for (const side of [expected, compared]) {
    for (const path of conformance?.mayDiffer ?? []) changeAt(side, path, () => undefined)
    for (const path of volatile) changeAt(side, path, (value) => `some ${typeof value}`)
    for (const path of unordered) {
      if (path === 'across subscriptions') side.response = bySubscription(side.response)
      else changeAt(side, path, sorted)
    }
  }
  return difference(expected.response, compared.response)
}

async function asProduct(
  step: Step,
  product: Product,
  got: Got,
  recorded: Failure | undefined,
  memory: Memory,
  ask: Ask,
): Promise<Failure | undefined> {
  const status = got.status === undefined ? undefined : wrongStatus(product, got)
  if (status !== undefined) return status
  if (product.responseText !== undefined) return difference(product.responseText.trim(), got.text.trim(), 'text')
  if (product.response !== undefined) return difference(wanted(product, got.body), codesOnly(got.body))
  const answer = got.body as { result?: unknown; error?: { code: number } } | undefined
  if (product.error !== undefined) {
    const code = answer?.error?.code
    if (code !== undefined && product.error.includes(code)) return undefined
    // This node may serve methods that the reference lacks.
    if (code === undefined && product.text?.startsWith('a product that offers') === true) return undefined
    if (product.result === undefined) {
      return { what: 'error', expected: `one of the codes ${product.error.join(', ')}`, got: short(got.body) }
    }
  }
  if (product.result === 'QUANTITY') return wrongQuantity(product.min ?? '0x0', answer)
  if (product.result !== undefined) return difference(product.result, answer?.result, '$.result')
  if (product.sameAs !== undefined) {
    const same = await ask(product.sameAs.method, product.sameAs.params)
    return difference(codesOnly({ error: same }), codesOnly({ error: answer?.error ?? answer?.result }), '$')
  }
  if (product.fields !== undefined) return wrongFields(step, product.fields, got, memory)
  if (isAboutBlocks(product, got.body)) return ofMainChain(got.body.result, ask)
  return inWords(step, product, got, recorded)
}

/** Blocks of a block filter, of which only those on the main chain are compared. */
function isAboutBlocks({ text }: Product, body: unknown): body is { result: string[] } {
  const result = isTree(body) ? body.result : undefined
  const isOfHashes = Array.isArray(result) && result.every((one) => typeof one === 'string')
  return isOfHashes && text?.startsWith('main chain only') === true
}

async function ofMainChain(hashes: readonly string[], ask: Ask): Promise<Failure | undefined> {
  for (const hash of hashes) {
    const block = (await ask('eth_getBlockByHash', [hash, false])) as { number?: string } | null
    const main = (await ask('eth_getBlockByNumber', [block?.number ?? 'earliest', false])) as { hash?: string }
    if (main.hash !== hash) return { what: '$.result', expected: 'blocks of the main chain', got: hash }
  }
  return undefined
}

/** Descriptions in words that cannot be compared: the recording is wrong, or one of several valid answers. */
function inWords(step: Step, product: Product, got: Got, recorded: Failure | undefined): Failure | undefined {
  if (product.httpStatus !== undefined) return undefined
  const isFix = step.conformance?.level === 'fix'
  const isPartial = step.conformance?.mayDiffer !== undefined
  if (isFix && isPartial) return recorded
  if (isFix && recorded === undefined) return { what: 'answer', expected: product.text ?? '', got: 'as recorded' }
  const errors = [got.body].flat().map((one) => (isTree(one) && isTree(one.error) ? one.error.code : undefined))
  const isDefect = errors.includes(-32603) || typeof got.body === 'string'
  return isDefect ? { what: 'answer', expected: product.text ?? '', got: short(got.body) } : undefined
}

function wrongStatus(product: Product, got: Got): Failure | undefined {
  if (product.httpStatus !== undefined) {
    const allowed = [product.httpStatus].flat()
    const isAllowed = got.status !== undefined && allowed.includes(got.status)
    return isAllowed ? undefined : { what: 'HTTP status', expected: allowed.join(' or '), got: String(got.status) }
  }
  const error = isTree(got.body) && !Array.isArray(got.body) ? got.body.error : undefined
  const isBadRequest = isTree(error) && [-32700, -32600, -32602].includes(error.code as number)
  return difference(isBadRequest ? 400 : 200, got.status, 'HTTP status')
}

/** Returns the expected body; "every element like the first" matches a list of any length. */
function wanted(product: Product, body: unknown): unknown {
  const { response, text } = product
  const isRepeated = text === 'every element like the first' && Array.isArray(response) && Array.isArray(body)
  return codesOnly(isRepeated ? body.map(() => response[0]) : response)
}

function wrongQuantity(minimum: string, answer: { result?: unknown } | undefined): Failure | undefined {
  const result = answer?.result
  const isQuantity = typeof result === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/.test(result)
  if (isQuantity && BigInt(result) >= BigInt(minimum)) return undefined
  return { what: '$.result', expected: `a quantity of at least ${minimum}`, got: short(answer) }
}

/** Returns the members of the result that differ from the recording. */
function wrongFields(
  step: Step,
  fields: Readonly<Record<string, unknown>>,
  got: Got,
  memory: Memory,
): Failure | undefined {
  const result = isTree(got.body) ? got.body.result : undefined
  for (const [name, value] of Object.entries(fields)) {
    const found = difference(value, isTree(result) ? result[name] : undefined, `$.result.${name}`)
    if (found !== undefined) return found
  }
  const response = step.response as { result?: unknown }
  if (!isTree(response.result)) return undefined
  const changed = { ...response, result: { ...response.result, ...fields } }
  return comparedBodies({ ...step, response: changed }, got, memory)
}

function hasLargeId(response: unknown): boolean {
  return (
    isTree(response) && typeof response.id === 'number' && !Number.isSafeInteger(response.id) && response.id > 2 ** 53
  )
}

function withRemoved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRemoved)
  if (!isTree(value)) return value
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withRemoved(member)]))
  return 'logIndex' in members ? { ...members, removed: false } : members
}

function without(refused: ReadonlySet<unknown>, value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !refused.has(one)).map((one) => without(refused, one))
  if (!isTree(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, without(refused, one)]))
}

function renamed(value: unknown, names: ReadonlyMap<unknown, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, names))
  if (isTree(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, renamed(one, names)]))
  return typeof value === 'string' ? (names.get(value) ?? value) : value
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1)) : value
}

/** Returns a text that does not depend on the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    isTree(one) && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort()) : one,
  )
}

/** Sorts messages by subscription: only within a subscription their order is fixed. */
function bySubscription(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages
  const of = (message: unknown): string =>
    (message as { params?: { subscription?: string } }).params?.subscription ?? ''
  return messages.toSorted((a, b) => of(a).localeCompare(of(b)))
}
