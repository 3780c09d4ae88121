import { describe, expect, test } from 'vitest'
import { AddressRanges, canonicalAddress, isAddressRange, networkOf } from './addressRanges.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::a', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['1::2:3:4:5:6:7', '1:0:2:3'],
  ['', ''],
])('%s is of the network %s', (address, network) => expect(networkOf(address)).toBe(network))

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8:0:0:0:0:0:A', '2001:db8::a'],
  ['0000:0000:0000:0000:0000:ffff:c000:0207', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', undefined],
  ['192.0.2', undefined],
  ['192.0.2.07', undefined],
  ['', undefined],
])('behavior: %s is written %s', (text, expected) => {
  expect(canonicalAddress(text)).toBe(expected)
})

test.each([
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  'localhost',
  '::/129',
  '::1/01',
  '',
])('error: %s is no range', (text) => {
  expect(isAddressRange(text)).toBe(false)
  expect(() => new AddressRanges([text])).toThrow(RangeError)
})

describe('ranges', () => {
  const ranges = new AddressRanges(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'])
  test.each([
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['2001:db8:1::9', true],
    ['2001:db9::', false],
    ['::1', true],
    ['127.0.0.1', false],
  ])('behavior: %s %s', (address, expected) => {
    expect(ranges.has(address)).toBe(expected)
  })
  test('behavior: the empty set contains no address, 0.0.0.0/0 and ::/0 contain all', () => {
    expect(new AddressRanges([]).has('10.0.0.1')).toBe(false)
    const all = new AddressRanges(['0.0.0.0/0', '::/0'])
    expect([all.has('203.0.113.1'), all.has('2001:db8::1'), all.has('')]).toEqual([true, true, false])
  })
})
