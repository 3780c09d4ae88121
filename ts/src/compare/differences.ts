import type { Answer } from './endpoint.ts'

/** A place where the answers of two nodes differ. The value of an absent member is undefined. */
export interface Difference {
  /** For example `result.transactions[3].r`. */
  readonly path: string
  readonly own: unknown
  readonly reference: unknown
  /** Why the nodes differ here, if docs/differences.md has a row for it. */
  readonly reason?: string
}

/** Returns the differences of two answers. Texts of errors do not count (`choices.errorText`). */
export function differencesOf(method: string, own: Answer, reference: Answer): Difference[] {
  const found: Difference[] = []
  if (own.error === undefined && reference.error === undefined) {
    collect('result', own.result, reference.result, found)
  } else if (own.error?.code !== reference.error?.code) {
    found.push({ path: 'answer', own: own.error ?? own.result, reference: reference.error ?? reference.result })
  }
  return found.map((difference) => {
    const known = knownDifferences.find(({ explains }) => explains(method, difference))
    return known === undefined ? difference : { ...difference, reason: known.reason }
  })
}

function collect(path: string, own: unknown, reference: unknown, found: Difference[]): void {
  if (Array.isArray(own) && Array.isArray(reference) && own.length === reference.length) {
    for (const [index, element] of own.entries()) collect(`${path}[${index}]`, element, reference[index], found)
  } else if (isObject(own) && isObject(reference)) {
    for (const name of new Set([...Object.keys(own), ...Object.keys(reference)])) {
      collect(`${path}.${name}`, own[name], reference[name], found)
    }
  } else if (own !== reference) {
    found.push({ path, own, reference })
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface KnownDifference {
  readonly reason: string
  readonly explains: (method: string, difference: Difference) => boolean
}

/** The rows of docs/differences.md that the compared methods meet. */
const knownDifferences: readonly KnownDifference[] = [
  {
    reason: 'D55: r and s have 32 bytes, in the reference no leading zeros (choices.signatureWords)',
    explains: (_method, { path, own, reference }) => /\.[rs]$/.test(path) && isSameNumber(own, reference),
  },
  {
    reason: 'D27: logs carry removed',
    explains: (_method, { path, own, reference }) =>
      path.endsWith('.removed') && own === false && reference === undefined,
  },
  {
    reason: 'a call that halts is an error, in the reference "0x" (choices.haltedCall)',
    explains: (method, { own, reference }) => method === 'eth_call' && codeOf(own) === -32015 && reference === '0x',
  },
  {
    reason: 'the state of the block is not kept here (storage.history)',
    explains: (_method, { own }) => codeOf(own) === -32000 && /is not kept/.test(messageOf(own)),
  },
]

function isSameNumber(first: unknown, second: unknown): boolean {
  const isHex = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value)
  return isHex(first) && isHex(second) && BigInt(first) === BigInt(second)
}

function codeOf(value: unknown): unknown {
  return isObject(value) ? value.code : undefined
}

function messageOf(value: unknown): string {
  return isObject(value) ? String(value.message) : ''
}
