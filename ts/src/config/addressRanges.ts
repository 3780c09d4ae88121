import { BlockList, isIP, SocketAddress } from 'node:net'

const family = { 4: 'ipv4', 6: 'ipv6' } as const

/** A set of IP addresses, built from addresses and ranges like `10.0.0.0/8` or `2001:db8::/32`. */
export class AddressRanges {
  readonly isEmpty: boolean
  readonly #list = new BlockList()

  /** Throws RangeError for a text that is neither an address nor a range. */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0
    for (const text of ranges) {
      const range = parse(text)
      if (range === undefined) throw new RangeError(`neither an address nor a range: ${text}`)
      this.#list.addSubnet(range.address, range.prefix, range.family)
    }
  }

  /** Returns whether the set contains `address`, as `canonicalAddress` writes it. False for the empty text of a disconnected client. */
  has(address: string): boolean {
    return !this.isEmpty && address !== '' && this.#list.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
  }
}

/** Returns whether a text is an IP address or a range, e.g. `192.0.2.7` or `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return parse(text) !== undefined
}

/** Returns an IP address in canonical form: IPv4 in IPv6 form as IPv4, IPv6 in lower case and shortened. Undefined for any other text. */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text)
  if (version === 4) return text
  if (version === 0 || text.includes('%')) return undefined
  const { address } = new SocketAddress({ address: text, family: 'ipv6' })
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}

/** Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...(tail === undefined ? [] : zeros), ...right].slice(0, 4).join(':')
}

function parse(text: string) {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  if ((version !== 4 && version !== 6) || rest.length > 0 || address.includes('%')) return undefined
  const bits = version === 4 ? 32 : 128
  if (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  const prefix = length === undefined ? bits : Number(length)
  return prefix > bits ? undefined : { address, prefix, family: family[version] }
}
