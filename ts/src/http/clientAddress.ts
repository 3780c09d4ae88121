import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { type AddressRanges, canonicalAddress } from '../config/addressRanges.ts'

/**
 * Returns the IP address of the client, as `canonicalAddress` writes it: the address of the peer or, behind trusted
 * proxies, the last address in `X-Forwarded-For` that is not a trusted proxy. A client can forge all entries before it.
 */
export function clientAddress(response: HttpResponse, request: HttpRequest, trusted: AddressRanges): string {
  const peer = peerAddress(response)
  return trusted.has(peer) ? lastUntrusted(peer, forwardedFor(request), trusted) : peer
}

/** Returns the address of the other end of the connection; empty after a disconnect. */
export function peerAddress(response: HttpResponse): string {
  const bytes = new Uint8Array(response.getRemoteAddress())
  if (bytes.length === 4) return bytes.join('.')
  return canonicalAddress(Buffer.from(response.getRemoteAddressAsText()).toString()) ?? ''
}

function lastUntrusted(peer: string, hops: readonly string[], trusted: AddressRanges): string {
  let nearest = peer
  for (const hop of hops.toReversed()) {
    const address = addressOf(hop.trim())
    // A proxy that names no client is taken for the client.
    if (address === undefined) return nearest
    nearest = address
    if (!trusted.has(address)) return address
  }
  return nearest
}

/** Joins all `X-Forwarded-For` lines. `getHeader` would return only the first line, which the client may have sent. */
function forwardedFor(request: HttpRequest): string[] {
  const values: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') values.push(value)
  })
  return values.join(',').split(',')
}

/** Parses one entry of `X-Forwarded-For`, with or without a port. */
function addressOf(hop: string): string | undefined {
  const bare = /^\[(.*)\](:\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
  return canonicalAddress(bare)
}
