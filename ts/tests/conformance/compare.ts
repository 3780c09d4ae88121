/** A difference, which is the reason of a failed case. */
export interface Failure {
  readonly what: string
  readonly expected: string
  readonly got: string
}

/** Returns the first difference of two JSON values. Numbers are compared by value, members in any order. */
export function difference(expected: unknown, got: unknown, at = '$'): Failure | undefined {
  if (!isTree(expected) || !isTree(got) || Array.isArray(expected) !== Array.isArray(got)) {
    return expected === got ? undefined : { what: at, expected: short(expected), got: short(got) }
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const place = Array.isArray(expected) ? `${at}[${name}]` : `${at}.${name}`
    const found = difference(expected[name], got[name], place)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns an answer without error messages, so that only error codes are compared. */
export function codesOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(codesOnly)
  if (!isTree(value)) return value
  const { error } = value
  return isTree(error) && 'code' in error ? { ...value, error: { code: error.code } } : value
}

export function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

export function short(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
