import { isLoopback } from '../config/addresses.ts'

// Two checks against web pages that attack a local node: `Host` against DNS rebinding, `Origin` against foreign pages.

/** The most recent allowed header: most clients send the same one with each request. */
let lastAllowed: { readonly header: string; readonly hosts: readonly string[] } | undefined

/** Returns whether a Host header names this node. Loopback names always do; an empty or absent header never does. */
export function isHostAllowed(header: string, hosts: readonly string[]): boolean {
  if (hosts.includes('*')) return true
  if (lastAllowed?.header === header && lastAllowed.hosts === hosts) return true
  const name = hostName(header)
  const isAllowed = isLoopbackName(name) || hosts.some((one) => hostName(one) === name)
  if (isAllowed) lastAllowed = { header, hosts }
  return isAllowed
}

/**
 * Returns whether a page of this origin may call. Entries are `*`, hosts (with any scheme and port), whole origins, or all
 * origins of a scheme (`chrome-extension://*`).
 */
export function isOriginAllowed(origin: string, allowed: readonly string[]): boolean {
  if (allowed.includes('*')) return true
  if (origin === 'null') return false
  const sent = origin.toLowerCase()
  const host = hostName(sent.replace(/^[a-z][a-z0-9+.-]*:\/\//, ''))
  return allowed.some((entry) => {
    const one = entry.toLowerCase()
    if (one.endsWith('://*')) return sent.startsWith(one.slice(0, -1))
    if (one.includes('://')) return one.replace(/\/$/, '') === sent
    return hostName(one) === host || (one === 'localhost' && isLoopbackName(host))
  })
}

/** Returns the host in lower case, without port and brackets. */
function hostName(text: string): string {
  const lower = text.trim().toLowerCase()
  if (lower.startsWith('[')) return lower.slice(1, lower.indexOf(']'))
  return lower.split(':').length > 2 ? lower : lower.replace(/:\d*$/, '')
}

function isLoopbackName(name: string): boolean {
  return isLoopback(name) || name.endsWith('.localhost')
}
