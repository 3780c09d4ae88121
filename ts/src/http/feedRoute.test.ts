import { expect, test } from 'vitest'
import { RpcError } from '../rpc/errors.ts'
import { feedAddresses } from '../rpc/parameters/feed.ts'
import { optionsOf } from './feedRoute.ts'

const read = (query: string, lastEventId = '') => optionsOf(new URLSearchParams(query), lastEventId)
const address = `0x${'11'.repeat(20)}`
const topic = (digit: string) => `0x${digit.repeat(64)}`

test('behavior: the query of a feed', () => {
  expect(read('')).toEqual({ from: 'latest', what: ['blocks'], criteria: {} })
  const query = `from=earliest&what=logs,receipts&address=${address},${address}&topic0=${topic('a')},${topic('b')}&topic2=${topic('c')}`
  expect(read(query)).toEqual({
    from: 'earliest',
    what: ['logs', 'receipts'],
    criteria: { address: [address, address], topics: [[topic('a'), topic('b')], null, [topic('c')]] },
  })
  expect(read('from=earliest', '12-0xab-3').from).toBe('12-0xab-3')
})

test('behavior: only logs of named addresses concern named addresses', () => {
  expect(feedAddresses(read(`what=logs&address=${address}`))).toEqual([address])
  for (const query of ['', 'what=logs', `what=logs,blocks&address=${address}`])
    expect(feedAddresses(read(query))).toEqual([null])
})

test.each([
  ['what=', 'Invalid what'],
  ['what=trace', 'trace is unknown'],
  ['what=logs,logs,logs,logs,logs,logs,logs', 'Invalid what'],
  [`address=${address}`, 'address and topics select logs'],
  ['what=logs&address=0x12', 'address'],
  ['what=logs&topic0=0x12', 'topic'],
  ['form=earliest', 'form is unknown'],
  ['from=1&from=2', 'from is given twice'],
  [`from=${'1'.repeat(129)}`, 'Invalid from'],
  ['from=', 'Invalid from'],
])('error: %s', (query, message) => {
  expect(() => read(query)).toThrow(RpcError)
  expect(() => read(query)).toThrow(new RegExp(message, 'i'))
})
