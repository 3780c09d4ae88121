import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from './contract.ts'
import { NodeProcess } from './node.ts'
import { exchange } from './rawSocket.ts'

const who = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

describe('bad input', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(async () => {
    // The node still serves, and has logged no internal error.
    expect(await node.result('net_version')).toBe('33')
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test.each([
    ['', -32700],
    ['{', -32700],
    ['\u0000', -32700],
    ['{"id":1,"method":"net_version"} {}', -32700],
    ['null', -32600],
    ['[]', -32600],
    ['{}', -32600],
    ['{"id":1,"method":7}', -32600],
    ['{"id":1,"method":"net_version","params":"x"}', -32600],
    [`${'['.repeat(5000)}${']'.repeat(5000)}`, -32600],
    [`[${'{"id":1,"method":"net_version"},'.repeat(60)}1]`, -32600],
    ['{"id":1,"method":"eth_nope"}', -32601],
    ['{"id":1,"method":"constructor"}', -32601],
    ['{"id":1,"method":"__proto__"}', -32601],
    ['{"id":1,"method":"eth_getBalance","params":{"address":"0x"}}', -32602],
  ])('error: body %.60s', async (body, code) => {
    const { status, body: answer } = await node.post(body)
    expect([status, answer]).toMatchObject([200, { error: { code } }])
  })

  test.each([
    ['eth_getBalance', [], /takes \[address, block\?\], got 0/],
    ['eth_getBalance', ['0x12'], /address: expected 20 bytes/],
    ['eth_getBalance', [who, 'newest'], /block: expected latest, earliest/],
    ['eth_getBalance', [who, '0x10000000000000000'], /Invalid block number/],
    ['eth_getBlockByNumber', ['0xzz'], /Invalid block identifier '0xzz'/],
    ['eth_getBlockByNumber', ['0x1', 'yes'], /full: expected true or false/],
    ['eth_getBlockByHash', ['0x1234'], /Invalid block hash: incorrect length/],
    ['eth_getTransactionByBlockHashAndIndex', [`0x${'0'.repeat(64)}`, '1'], /index: expected 0x/],
    ['eth_call', ['x', 'latest'], /Invalid call object/],
    ['eth_call', [{ gas: 'lots' }, 'latest'], /call\.gas: expected a number/],
    ['eth_call', [{ data: '0x123' }, 'latest'], /call\.data: expected bytes/],
    ['eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x1' }], /fromBlock cannot be greater than toBlock/],
    ['eth_getLogs', [{ topics: ['0x12'] }], /filter\.topics: expected 32 bytes/],
    ['eth_getCode', [who, 'pending'], /pending/],
    ['evm_increaseTime', ['-5'], /seconds: expected/],
    ['web3_sha3', ['hello'], /hexadecimal/],
  ])('error: %s %j', async (method, params, message) => {
    expect((await node.ask(method, params)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(message),
    })
  })

  test('error: blocks that do not exist', async () => {
    expect((await node.ask('eth_getBalance', [who, '0x999'])).error).toMatchObject({
      code: -32600,
      message: 'Block 0x999 not found',
    })
    expect(await node.result('eth_getBlockByNumber', ['0x999'])).toBeNull()
    expect(await node.result('eth_getTransactionByHash', [`0x${'1'.repeat(64)}`])).toBeNull()
    expect((await node.ask('eth_getFilterChanges', ['0x1'])).error).toMatchObject({ code: -32000 })
  })

  const account = privateKeyToAccount(keys[0])
  const signed = (more: object) =>
    account.signTransaction({
      type: 'legacy',
      chainId: 33,
      gas: 21_000n,
      gasPrice: 0n,
      nonce: 0,
      to: who,
      value: 1n,
      ...more,
    })

  test.each([
    ['empty', '0x', -32602],
    ['not hex', 'zz', -32602],
    ['not RLP', '0xf8', -32602],
    ['an empty list', '0xc0', -32602],
    ['too few fields', '0xc3808080', -32602],
    ['cut off', '0x02f87083', -32602],
  ])('error: a transaction that is %s', async (_kind, data, code) => {
    const { error } = await node.ask('eth_sendRawTransaction', [data])
    expect(error?.code).toBe(code)
    expect(error?.message).not.toBe('Internal server error')
  })

  test('error: transactions that are wrongly signed or do not fit', async () => {
    const send = async (data: string) => (await node.ask('eth_sendRawTransaction', [data])).error
    expect(await send(await signed({ chainId: 30 }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('30'),
    })
    expect(await send(await signed({ nonce: 50 }))).toMatchObject({
      code: -32010,
      message: 'transaction nonce too high',
    })
    expect(await send(await signed({ gas: 5n }))).toMatchObject({ code: -32010 })
    const typed = await account.signTransaction({
      type: 'eip1559',
      chainId: 33,
      gas: 21_000n,
      to: who,
      maxFeePerGas: 1n,
    })
    expect(await send(typed)).toMatchObject({
      code: -32010,
      message: expect.stringContaining('transaction type not valid'),
    })
    const broken = (await signed({})).replace(/.{10}$/, '0000000000')
    expect((await send(broken))?.code).toSatisfy((code: number) => [-32602, -32010].includes(code))
  })

  test('error: other media types, methods, and bodies that are too large', async () => {
    expect((await node.post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await fetch(node.url)).status).toBe(405)
    const port = Number(new URL(node.url).port)
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5242881\r\n\r\n'
    expect((await exchange(port, head)).text).toMatch(/^HTTP\/1\.1 413/)
    expect((await exchange(port, 'NO HTTP\r\n\r\n')).isClosed).toBe(true)
  })
})
