import { AbiCoder } from 'ethers'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { decodeAbi, membersOf } from './abi.ts'

const address = `0x${'ab'.repeat(20)}` as const

test.each<[string, readonly unknown[], readonly unknown[]]>([
  ['address, uint256, bool', [address, 2n ** 255n, true], [address, String(2n ** 255n), true]],
  ['int256, bytes4, uint8', [-5n, '0x01020304', 7], ['-5', '0x01020304', '7']],
  ['string, bytes', ['grüße', '0x0102'], ['grüße', '0x0102']],
  ['uint256[], address', [[1n, 2n], address], [['1', '2'], address]],
  ['uint256[2], uint256', [[1n, 2n], 3n], [['1', '2'], '3']],
  [
    'bytes[], string[2]',
    [
      ['0x01', '0x'],
      ['a', 'b'],
    ],
    [
      ['0x01', '0x'],
      ['a', 'b'],
    ],
  ],
  ['uint256[2][]', [[[1n, 2n]]], [[['1', '2']]]],
])('behavior: decodes %s', (types, values, expected) => {
  const data = encodeAbiParameters(parseAbiParameters(types), values as never)
  expect(decodeAbi(types.split(', '), data)).toEqual(expected)
})

test.each<[string, readonly unknown[], readonly unknown[]]>([
  ['(uint256,address),bool', [[1n, address], true], [['1', address], true]],
  ['(uint256,(bool,uint8)[2])[2],uint8', [twice([1n, twice([true, 2])]), 3], [twice(['1', twice([true, '2'])]), '3']],
  ['(string,(uint8,bytes)[]),uint8', [['a', [[7, '0x01']]], 3], [['a', [['7', '0x01']]], '3']],
])('behavior: decodes structs: %s', (types, values, expected) => {
  const coder = AbiCoder.defaultAbiCoder()
  const split = membersOf(`(${types})`)
  expect(decodeAbi(split, coder.encode(split.map(ethersType), values))).toEqual(expected)
})

test('behavior: the members of a struct are those between its own commas', () => {
  expect(membersOf('(uint256,(bool,bool[2])[],string)')).toEqual(['uint256', '(bool,bool[2])[]', 'string'])
  expect(membersOf('()')).toEqual([])
})

function twice<T>(value: T): readonly T[] {
  return [value, value]
}

function ethersType(type: string): string {
  return type.replaceAll('(', 'tuple(')
}

test('error: data that do not fit are undefined', () => {
  const word = (number: number | string) =>
    (typeof number === 'string' ? number : number.toString(16)).padStart(64, '0')
  const data = encodeAbiParameters([{ type: 'string' }], ['a long text, longer than a word of 32 bytes'])
  for (let length = 0; length < data.length - 44; length += 2) {
    expect(decodeAbi(['string'], data.slice(0, length)), `${length}`).toBeUndefined()
  }
  // An offset behind the end, a length of 2^31, more values than are shown, and too many lists.
  expect(decodeAbi(['bytes'], word(0xffff))).toBeUndefined()
  expect(decodeAbi(['bytes'], word(32) + word(0x7fffffff))).toBeUndefined()
  expect(decodeAbi(['uint256[]'], word(32) + word(0xffffff))).toBeUndefined()
  expect(decodeAbi(['uint256[][][]'], word(32) + word(1001) + word(0).repeat(1001))).toBeUndefined()
  expect(decodeAbi(['uint256'], 'not hex'.padEnd(64))).toBeUndefined()
  expect(decodeAbi(['uint256'], word('f'.repeat(64)).slice(1))).toBeUndefined()
})
