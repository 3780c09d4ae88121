import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { expect, test } from 'vitest'
import { AddressRanges } from '../config/addressRanges.ts'
import { clientAddress } from './clientAddress.ts'

const trusted = new AddressRanges(['10.0.0.0/8', 'fd00::/8'])

function address(peer: number[], ...lines: string[]): string {
  const text =
    peer.length === 4
      ? peer.join('.')
      : Buffer.from(peer)
          .toString('hex')
          .replace(/(.{4})(?=.)/g, '$1:')
  const response = {
    getRemoteAddress: () => Uint8Array.from(peer).buffer,
    getRemoteAddressAsText: () => Uint8Array.from(Buffer.from(text)).buffer,
  } as unknown as HttpResponse
  const request = {
    forEach: (each: (name: string, value: string) => void) => {
      each('host', 'node')
      for (const line of lines) each('x-forwarded-for', line)
    },
  } as unknown as HttpRequest
  return clientAddress(response, request, trusted)
}

const proxy = [10, 0, 0, 1]

test('behavior: the address of an untrusted peer, with any header', () => {
  expect(address([192, 0, 2, 7], '198.51.100.1')).toBe('192.0.2.7')
  expect(address([...new Array(15).fill(0), 1], '198.51.100.1')).toBe('::1')
  expect(address([...new Array(10).fill(0), 255, 255, 192, 0, 2, 7])).toBe('192.0.2.7')
  expect(address(proxy)).toBe('10.0.0.1')
})

test.each([
  [['198.51.100.1'], '198.51.100.1'],
  [['203.0.113.9, 198.51.100.1'], '198.51.100.1'],
  [['203.0.113.9,198.51.100.1 , 10.2.2.2,10.3.3.3'], '198.51.100.1'],
  [['203.0.113.9', '198.51.100.1'], '198.51.100.1'],
  [['10.9.9.9, 10.2.2.2'], '10.9.9.9'],
  [['198.51.100.1:4711'], '198.51.100.1'],
  [['[2001:DB8::7]:4711'], '2001:db8::7'],
  [['::ffff:198.51.100.1'], '198.51.100.1'],
  [['198.51.100.1, unknown'], '10.0.0.1'],
  [['198.51.100.1, , 10.2.2.2'], '10.2.2.2'],
  [['198.51.100.1\u0000'], '10.0.0.1'],
  [[''], '10.0.0.1'],
  [[`${'1.1.1.1,'.repeat(10_000)}198.51.100.1`], '198.51.100.1'],
])('behavior: behind a trusted proxy %j is %s', (lines, expected) => {
  expect(address(proxy, ...lines)).toBe(expected)
})
