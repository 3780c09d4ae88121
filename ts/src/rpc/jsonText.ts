/** What a JSON text says; undefined when it is none. What is wrong with it is not told: that would show its content. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
