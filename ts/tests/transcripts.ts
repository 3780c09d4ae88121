import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

// Recorded requests and answers of the reference node, and what a better product may or must answer instead.

const folder = fileURLToPath(new URL('../../tests/vectors/rpc/', import.meta.url))

export interface Step {
  readonly n: number
  readonly kind: string
  readonly request?: Record<string, unknown>
  readonly expand?: boolean
  readonly httpStatus?: number
  readonly response?: unknown
  readonly responseText?: string
  readonly volatile?: readonly string[]
  readonly note?: string
  readonly captures?: Readonly<Record<string, string>>
  readonly binds?: Readonly<Record<string, string>>
  readonly conformance?: Conformance
}

interface Conformance {
  readonly level: 'exact' | 'fix' | 'may'
  readonly withRemoved?: boolean
  readonly mayDiffer?: readonly string[]
  readonly product?: {
    readonly error?: readonly number[]
    readonly result?: unknown
    readonly min?: string
    readonly fields?: Readonly<Record<string, unknown>>
    readonly sameAs?: { method: string; params: unknown[] }
    readonly httpStatus?: number | readonly number[]
    readonly response?: unknown
    readonly responseText?: string
    readonly text?: string
  }
}

/** What came back. `body` is the parsed answer, undefined for an empty one. */
export interface Got {
  readonly status: number
  readonly text: string
  readonly body: unknown
}

/** Bytes of a vector file, whether it is kept compressed or not. */
export function vectorFile(name: string): Buffer {
  return existsSync(folder + name) ? readFileSync(folder + name) : gunzipSync(readFileSync(`${folder}${name}.gz`))
}

export function transcript(name: string): Step[] {
  return JSON.parse(vectorFile(`${name}.json`).toString()) as Step[]
}

/** The body to send: a step gives it as text or as a request. `{{X*N}}` stands for N times X. */
export function bodyOf(step: Step): string | undefined {
  const { body } = step.request ?? {}
  if (step.kind === 'rpc') return JSON.stringify(step.request)
  if (typeof body !== 'string') return undefined
  return step.expand === true || body.includes('{{')
    ? body.replace(/\{\{(.+?)\*(\d+)\}\}/g, (_all, piece: string, count: string) => piece.repeat(Number(count)))
    : body
}

/** Compares an answer with a step. Returns what is wrong, or undefined. `ask` answers another request at this moment. */
export async function judge(
  step: Step,
  got: Got,
  ask: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<string | undefined> {
  const { conformance } = step
  const asRecorded = sameAsRecorded(step, got)
  if (conformance === undefined || conformance.level === 'exact') return asRecorded
  if (conformance.level === 'may' && asRecorded === undefined) return undefined
  const better = await sameAsProduct(step, got, ask)
  if (better === undefined) return undefined
  return conformance.level === 'may' ? `neither as recorded (${asRecorded}) nor better: ${better}` : better
}

function sameAsRecorded(step: Step, got: Got): string | undefined {
  if (step.httpStatus !== undefined && step.httpStatus !== got.status)
    return `status ${got.status}, not ${step.httpStatus}`
  const skipped = [...(step.volatile ?? []), ...(step.conformance?.mayDiffer ?? [])]
    .filter((path) => path.startsWith('$.response'))
    .map((path) => path.replace('$.response', '$'))
  const expected = step.conformance?.withRemoved === true ? withRemoved(step.response) : step.response
  return difference(without(expected, skipped), without(got.body, skipped))
}

async function sameAsProduct(
  step: Step,
  got: Got,
  ask: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<string | undefined> {
  const product = step.conformance?.product
  if (product === undefined) return sameAsRecorded(step, got)
  const answer = got.body as { result?: unknown; error?: { code: number } } | undefined
  if (product.httpStatus !== undefined && ![product.httpStatus].flat().includes(got.status)) {
    return `status ${got.status}, not ${product.httpStatus}`
  }
  if (product.responseText !== undefined && got.text.trim() !== product.responseText.trim()) return `text ${got.text}`
  if (product.response !== undefined) {
    if (!matches(product.response, got.body)) return `answer ${got.text.slice(0, 200)}`
    return undefined
  }
  if (product.error !== undefined) {
    const code = answer?.error?.code
    if (code !== undefined && product.error.includes(code)) return undefined
    return product.result === undefined ? `error ${code}, not ${product.error}: ${got.text.slice(0, 200)}` : undefined
  }
  if (product.result === 'QUANTITY') {
    const isEnough = BigInt(answer?.result as string) >= BigInt(product.min ?? '0x0')
    return isEnough ? undefined : `result ${String(answer?.result)} is below ${product.min}`
  }
  if (product.result !== undefined) return difference(product.result, answer?.result)
  if (product.sameAs !== undefined) {
    return difference(await ask(product.sameAs.method, product.sameAs.params), answer?.result ?? answer?.error)
  }
  if (product.fields !== undefined) {
    const members = answer?.result as Record<string, unknown>
    for (const [name, value] of Object.entries(product.fields)) {
      if (JSON.stringify(members?.[name]) !== JSON.stringify(value))
        return `${name} is ${JSON.stringify(members?.[name])}`
    }
  }
  return undefined
}

/** An expected answer in which errors list only their code, and messages are free. */
function matches(expected: unknown, got: unknown): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(got) && expected.every((one, index) => matches(one, got[index] ?? got.at(-1)))
  }
  if (typeof expected !== 'object' || expected === null) return JSON.stringify(expected) === JSON.stringify(got)
  if (typeof got !== 'object' || got === null) return false
  return Object.entries(expected).every(([name, value]) => matches(value, (got as Record<string, unknown>)[name]))
}

function withRemoved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRemoved)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withRemoved(member)]))
  return 'logIndex' in members ? { ...members, removed: false } : members
}

/** A copy without the members at some paths (`$.result..s`, `$.result[*].hash`). */
function without(value: unknown, paths: readonly string[]): unknown {
  if (paths.length === 0 || value === undefined) return value
  const patterns = paths.map(
    (path) =>
      new RegExp(
        `^${path
          .replace(/[.$[\]*]/g, (c) => `\\${c}`)
          .replaceAll('\\[\\*\\]', '\\[\\d+\\]')
          .replaceAll('\\.\\.', '(?:\\..*|\\[.*)?\\.')}$`,
      ),
  )
  const visit = (at: string, one: unknown): unknown => {
    if (patterns.some((pattern) => pattern.test(at))) return undefined
    if (Array.isArray(one)) return one.map((element, index) => visit(`${at}[${index}]`, element))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, visit(`${at}.${name}`, member)]))
  }
  return visit('$', value)
}

/** The first place where two values differ. */
function difference(expected: unknown, got: unknown, at = '$'): string | undefined {
  if (typeof expected !== 'object' || expected === null || typeof got !== 'object' || got === null) {
    return expected === got ? undefined : `${at}: expected ${short(expected)}, got ${short(got)}`
  }
  const names = new Set([...Object.keys(expected), ...Object.keys(got)])
  for (const name of names) {
    const found = difference(
      (expected as Record<string, unknown>)[name],
      (got as Record<string, unknown>)[name],
      `${at}.${name}`,
    )
    if (found !== undefined) return found
  }
  return undefined
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 160)
}
