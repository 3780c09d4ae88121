import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { expect, test } from 'vitest'
import { addSignatures, decodeInput, decodeLog, events, functions } from './signatures.ts'

const [from, to] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const
const bare = (signature: string) =>
  signature.replace(
    /\((.*)\)/,
    (_whole, list: string) =>
      `(${list
        .split(', ')
        .map((part) => part.split(' ')[0])
        .join(',')})`,
  )

test('behavior: selectors and topics are those of the signatures', () => {
  for (const [selector, signature] of functions) {
    expect([signature, toFunctionSelector(`function ${bare(signature)}`)]).toEqual([signature, selector])
  }
  for (const [topic, signature] of events) {
    expect([signature, toEventSelector(`event ${bare(signature)}`)]).toEqual([signature, topic])
  }
})

test('behavior: decodes inputs and reasons of reverts', () => {
  const abi = parseAbi(['function transfer(address to, uint256 amount)'])
  const data = encodeFunctionData({ abi, args: [to, 5n] })
  expect(decodeInput(data)).toEqual({
    name: 'transfer',
    values: [
      { name: 'to', type: 'address', value: to },
      { name: 'amount', type: 'uint256', value: '5' },
    ],
  })
  const reason = encodeAbiParameters([{ type: 'string' }], ['no']).slice(2)
  expect(decodeInput(`0x08c379a0${reason}`)?.values[0]?.value).toBe('no')
  expect(decodeInput(data.slice(0, -2))).toBeUndefined()
  expect(decodeInput('0x01020304')).toBeUndefined()
  expect(decodeInput('0x')).toBeUndefined()
})

test('behavior: the number of topics selects the event', () => {
  const fungible = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 amount)'])
  const topics = encodeEventTopics({ abi: fungible, eventName: 'Transfer', args: { from, to } }) as string[]
  const word = (number: bigint) => encodeAbiParameters([{ type: 'uint256' }], [number])
  expect(decodeLog(topics, word(5n))?.values.map(({ name, value }) => [name, value])).toEqual([
    ['from', from],
    ['to', to],
    ['amount', '5'],
  ])
  expect(decodeLog([...topics, word(7n)], '0x')?.values.at(-1)).toMatchObject({ name: 'tokenId', value: '7' })
  expect(decodeLog(topics, '0x')).toBeUndefined()
  expect(decodeLog(topics.slice(0, 1), word(5n))).toBeUndefined()
  expect(decodeLog([], '0x')).toBeUndefined()
})

test('behavior: added signatures decode, and those of the same selector have other names', () => {
  const abi = parseAbi([
    'function transfer(address receiver, uint256 value)',
    'event Named(string indexed name, uint8)',
  ])
  const parameter = (name: string, type: string, isIndexed = false) => ({ name, type, isIndexed })
  const topic = toEventSelector('Named(string,uint8)')
  addSignatures({
    functions: [
      {
        id: '0xa9059cbb',
        name: 'transfer',
        parameters: [parameter('receiver', 'address'), parameter('value', 'uint256')],
      },
    ],
    events: [{ id: topic, name: 'Named', parameters: [parameter('name', 'string', true), parameter('', 'uint8')] }],
  })
  const input = encodeFunctionData({ abi, functionName: 'transfer', args: [to, 5n] })
  expect(decodeInput(input)?.values.map(({ name }) => name)).toEqual(['receiver', 'value'])
  // The topic is the hash of the text.
  const [, hash] = encodeEventTopics({ abi, eventName: 'Named', args: { name: 'x' } }) as string[]
  expect(decodeLog([topic, hash ?? ''], `0x${'7'.padStart(64, '0')}`)?.values).toEqual([
    { name: 'name', type: 'bytes32', value: hash },
    { name: '1', type: 'uint8', value: '7' },
  ])
})
