/** Parses a JSON text; undefined if it is invalid. No error is returned, because it would repeat the content. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
