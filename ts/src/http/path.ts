/** The API key in a path: the last segment of `/<KEY>` and `/v2/<KEY>`, undefined when there is none. Keys are never logged. */
export function keyOf(path: string): string | undefined {
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last === '' || path === '/v2' ? undefined : last
}
