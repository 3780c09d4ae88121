// A request id is echoed exactly as it was sent. JSON.parse changes numbers such as `1.0` and integers above 2^53, so
// their text is cut out of the body. Usual ids do not need that.

import { elementSpans, memberSpan, skipSpace } from './spans.ts'

const oddNumber = /"id"\s*:\s*-?\d+[.eE]/

/** Returns the text to echo for the id of a single request. */
export function exactId(id: string | number | null, body: string): string {
  if (isPlain(id) && (typeof id !== 'number' || !oddNumber.test(body))) return plainText(id)
  return memberText(body, skipSpace(body, 0)) ?? JSON.stringify(id)
}

/** Returns the texts to echo for the elements of a batch. */
export function exactIds(ids: readonly (string | number | null)[], body: string): string[] {
  if (ids.every(isPlain) && !oddNumber.test(body)) return ids.map(plainText)
  const spans = elementSpans(body, skipSpace(body, 0))
  return ids.map((id, index) => {
    const raw = typeof id === 'number' ? memberText(body, spans[2 * index] ?? 0) : undefined
    return raw ?? JSON.stringify(id)
  })
}

/** Writes an id that `isPlain` accepts. */
function plainText(id: string | number | null): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

/** Whether the parsed id, written again, equals its text, unless the body has a number with fraction or exponent. */
function isPlain(id: string | number | null): boolean {
  return typeof id !== 'number' || (Number.isSafeInteger(id) && !Object.is(id, -0))
}

/** Returns the text of the id of the request at `at`. */
function memberText(body: string, at: number): string | undefined {
  const span = memberSpan(body, at, 'id')
  return span === undefined ? undefined : body.slice(span[0], span[1])
}
