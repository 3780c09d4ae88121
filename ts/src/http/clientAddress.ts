import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { type AddressRanges, canonicalAddress } from '../config/addressRanges.ts'

/**
 * The IP address that a request comes from, as `canonicalAddress` writes it: of the peer or, when that is a proxy that is
 * trusted, the last address in `X-Forwarded-For` that no trusted proxy has. What stands before it anybody can write.
 */
export function clientAddress(response: HttpResponse, request: HttpRequest, trusted: AddressRanges): string {
  const peer = peerAddress(response)
  return trusted.has(peer) ? lastUntrusted(peer, forwardedFor(request), trusted) : peer
}

/** The other end of the connection. Empty when it is gone. */
export function peerAddress(response: HttpResponse): string {
  const bytes = new Uint8Array(response.getRemoteAddress())
  if (bytes.length === 4) return bytes.join('.')
  return canonicalAddress(Buffer.from(response.getRemoteAddressAsText()).toString()) ?? ''
}

function lastUntrusted(peer: string, hops: readonly string[], trusted: AddressRanges): string {
  let nearest = peer
  for (const hop of hops.toReversed()) {
    const address = addressOf(hop.trim())
    // A proxy that does not know whom it speaks for speaks for itself.
    if (address === undefined) return nearest
    nearest = address
    if (!trusted.has(address)) return address
  }
  return nearest
}

/** Proxies may add a line of their own: `getHeader` would give the first alone, which is the caller's. */
function forwardedFor(request: HttpRequest): string[] {
  const values: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') values.push(value)
  })
  return values.join(',').split(',')
}

/** Some proxies write the port, too. */
function addressOf(hop: string): string | undefined {
  const bare = /^\[(.*)\](:\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
  return canonicalAddress(bare)
}
