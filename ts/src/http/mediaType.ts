const accepted = new Set(['application/json', 'application/json-rpc'])

/** Returns whether a Content-Type header names JSON; parameters, case and spaces are ignored. */
export function isJson(header: string): boolean {
  if (header === 'application/json') return true
  const end = header.indexOf(';')
  return accepted.has((end === -1 ? header : header.slice(0, end)).trim().toLowerCase())
}
