import { isIP, SocketAddress } from 'node:net'

/** Returns an address or a range in canonical form, e.g. `10.0.0.0/8`; IPv4 in IPv6 form becomes IPv4. Returns undefined for any other text. */
export function readSource(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.trim().split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined
  const most = version === 4 ? 32 : 128
  if (bits !== undefined && !(/^[0-9]{1,3}$/.test(bits) && Number(bits) <= most)) return undefined
  const length = bits === undefined ? most : Number(bits)
  const plain = new SocketAddress({ address, family: version === 4 ? 'ipv4' : 'ipv6' }).address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1]
  if (mapped !== undefined && length >= 96) return written(mapped, length - 96, 32)
  return written(plain, length, most)
}

function written(address: string, length: number, most: number): string {
  return length === most ? address : `${address}/${length}`
}
