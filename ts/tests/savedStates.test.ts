import { createTestClient, encodeFunctionData, http, parseAbi, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

// anvil_dumpState, anvil_loadState, anvil_reorg, anvil_rollback, and the lines of console.sol in traces.

const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const stranger = '0x000000000000000000000000000000000000beef'

interface Block {
  readonly number: string
  readonly hash: string
  readonly transactions: string[]
}

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start()
})
afterAll(() => node.stop())

const latest = () => node.result<Block>('eth_getBlockByNumber', ['latest', false])
const pay = (value: string) => ({ from: cow, to: stranger, value })

test.each(['hardhat', 'anvil'] as const)('behavior: the test client of viem moves a state, mode %s', async (mode) => {
  const client = (url: string) =>
    createTestClient({ mode, transport: http(url, { retryCount: 0 }) }).extend(publicActions)
  const [from, other] = [client(node.url), await NodeProcess.start()]
  try {
    await from.setBalance({ address: stranger, value: 77n })
    await from.setStorageAt({ address: stranger, index: 3, value: `0x${'2a'.padStart(64, '0')}` })
    const to = client(other.url)
    await to.loadState({ state: await from.dumpState() })
    expect(await to.getBalance({ address: stranger })).toBe(77n)
    expect(await to.getStorageAt({ address: stranger, slot: '0x3' })).toMatch(/2a$/)
  } finally {
    await other.stop()
  }
})

test('error: a state that cannot be read, and nothing changes', async () => {
  const { hash } = await latest()
  for (const [state, fault] of [
    ['0x1f8b', 'its compression (gzip) is damaged'],
    ['0x7b7d', 'missing field `accounts`'],
    ['0x', 'expected a JSON object'],
  ] as const) {
    const { error } = await node.ask('anvil_loadState', [state])
    expect([error?.code, error?.message]).toEqual([-32602, expect.stringContaining(fault)])
  }
  expect((await latest()).hash).toBe(hash)
})

describe('reorganizations', () => {
  test('behavior: blocks are replaced by others, with the given transactions', async () => {
    await node.result('hardhat_mine', ['0x5'])
    const before = await latest()
    expect(await node.result('anvil_reorg', [3, [[pay('0x5'), 1]]])).toBe(null)
    const after = await latest()
    expect([after.number, after.hash === before.hash]).toEqual([before.number, false])
    const changed = await node.result<Block>('eth_getBlockByNumber', [
      `0x${(Number(after.number) - 1).toString(16)}`,
      false,
    ])
    // The last one is that of REMASC.
    expect(changed.transactions).toHaveLength(2)
  })

  test('behavior: blocks are deleted', async () => {
    const before = Number((await latest()).number)
    expect(await node.result('anvil_rollback', [2])).toBe(null)
    expect(await node.result('anvil_rollback')).toBe(null)
    expect(Number((await latest()).number)).toBe(before - 3)
  })

  test('error: a refused transaction leaves the old blocks', async () => {
    const before = await latest()
    // An account without balance.
    const raw = await privateKeyToAccount(`0x${'7'.repeat(64)}`).signTransaction({
      type: 'legacy',
      chainId: 33,
      nonce: 0,
      to: stranger,
      gas: 21_000n,
      gasPrice: 10n ** 9n,
    })
    const client = await Client.open(node.url)
    await client.result('eth_subscribe', ['newHeads'])
    const { error } = await node.ask('anvil_reorg', [2, [[raw, 1]]])
    expect(error).toMatchObject({ code: -32010 })
    expect((await latest()).hash).toBe(before.hash)
    // A subscription reports none of these blocks, but the next one.
    await node.result('evm_mine')
    const [head] = await client.take(1)
    expect(head?.params.result).toMatchObject({ parentHash: before.hash, hash: (await latest()).hash })
    await client.close()
  })

  test('behavior: a subscription reports the new blocks only', async () => {
    const client = await Client.open(node.url)
    await client.result('eth_subscribe', ['newHeads'])
    const old = await latest()
    await node.result('anvil_reorg', [3])
    const heads = (await client.take(3)).map((one) => one.params.result as Block)
    expect(heads.map((head) => Number(head.number))).toEqual([-2, -1, 0].map((below) => Number(old.number) + below))
    expect(heads.at(-1)?.hash).toBe((await latest()).hash)
    await client.close()
  })

  test('error: more blocks than there are, or a transaction behind them', async () => {
    const { number } = await latest()
    for (const [method, params] of [
      ['anvil_rollback', [1_000_000]],
      ['anvil_reorg', [1_000_000]],
      ['anvil_reorg', [1, [[pay('0x1'), 1]]]],
      ['anvil_reorg', [1, [['0xzz', 0]]]],
      ['anvil_reorg', [1, {}]],
    ] as const) {
      expect((await node.ask(method, params as unknown as unknown[])).error?.code, method).toBe(-32602)
    }
    expect((await latest()).number).toBe(number)
  })
})

test('behavior: call traces show what contracts print', async () => {
  const abi = parseAbi(['function log(string, uint256)'])
  const data = encodeFunctionData({ abi, functionName: 'log', args: ['total: %d', 42n] })
  // Calls the console with its own input.
  const [before, after] = ['3660006000376000600036600073', '5afa5000']
  await node.result('hardhat_setCode', [stranger, `0x${before}000000000000000000636f6e736f6c652e6c6f67${after}`])
  const hash = await node.result<string>('eth_sendTransaction', [{ from: cow, to: stranger, data }])
  const trace = (options: object) => node.result<{ console?: string[] }>('debug_traceTransaction', [hash, options])
  expect((await trace({ tracer: 'callTracer' })).console).toEqual(['total: 42'])
})
