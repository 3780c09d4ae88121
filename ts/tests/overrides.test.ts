import { createPublicClient, defineChain, http, pad, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const contract = '0x000000000000000000000000000000000000c0de'
const poor = '0x0000000000000000000000000000000000000b0b'
/** Returns storage slot 0. */
const readCell = '0x60005460005260206000f3'
/** Returns number, time, difficulty, gas limit, coinbase, base fee and its own balance. */
const readBlock = [
  '0x',
  '43600052',
  '42602052',
  '44604052',
  '45606052',
  '41608052',
  '4860a052',
  '4760c052',
  '60e06000f3',
].join('')
/** Adds one to storage slot 0. */
const count = '0x60016000540160005500'
/** Sends one wei to address 0x5, then reverts with the word 7. */
const payAndRevert = ['0x', '60006000600060006001600560fff150', '600760005260206000fd'].join('')

describe('overrides and simulation', () => {
  let node: NodeProcess
  const client = () => {
    const rpcUrls = { default: { http: [node.url] } }
    const nativeCurrency = { name: 'RBTC', symbol: 'RBTC', decimals: 18 }
    const chain = defineChain({ id: 33, name: 'regtest', nativeCurrency, rpcUrls })
    return createPublicClient({ chain, transport: http(node.url, { retryCount: 0 }) })
  }
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    // The overrides are not stored.
    expect(await node.result('eth_blockNumber')).toBe('0x0')
    expect(await node.result('eth_getBalance', [poor])).toBe('0x0')
    await node.stop()
  })

  test('behavior: viem calls on a state that is pretended', async () => {
    const cell = { slot: pad('0x0'), value: pad('0x2a') }
    const on = (state: object) =>
      client().call({ to: contract, stateOverride: [{ address: contract, code: readCell, ...state }] })
    expect((await on({ stateDiff: [cell] })).data).toBe(pad('0x2a'))
    expect((await on({ state: [cell] })).data).toBe(pad('0x2a'))
    expect((await on({})).data).toBe(pad('0x0'))
    const gas = await client().estimateGas({
      account: poor,
      to: contract,
      stateOverride: [
        { address: contract, code: count },
        { address: poor, balance: parseEther('1') },
      ],
    })
    expect(gas).toBeGreaterThan(26_000n)
  })

  test('behavior: a call in a block that is pretended', async () => {
    const block = {
      number: '0x64',
      time: '0x65',
      difficulty: '0x66',
      gasLimit: '0x67',
      feeRecipient: cow,
      baseFeePerGas: '0x68',
    }
    const state = { [contract]: { code: readBlock, balance: '0x69' } }
    const words = await node.result<string>('eth_call', [{ to: contract }, 'latest', state, block])
    const read = words
      .slice(2)
      .match(/.{64}/g)
      ?.map((word) => BigInt(`0x${word}`))
    expect(read).toEqual([0x64n, 0x65n, 0x66n, 0x67n, BigInt(cow), 0x68n, 0x69n])
  })

  test('behavior: state replaces all storage slots, stateDiff single ones', async () => {
    const set = { [contract]: { code: readCell, state: { '0x1': '0x5' } } }
    expect(await node.result('eth_call', [{ to: contract }, 'latest', set])).toBe(pad('0x0'))
    await node.result('eth_call', [{ to: contract }, 'latest', null, null])
  })

  test('behavior: precompiles can be moved to other addresses', async () => {
    const moved = { '0x0000000000000000000000000000000000000004': { movePrecompileToAddress: contract } }
    for (const to of [contract, '0x0000000000000000000000000000000000000004']) {
      expect(await node.result('eth_call', [{ to, data: '0xabcd' }, 'latest', moved])).toBe('0xabcd')
    }
  })

  test.each([
    [{ bad: {} }, /Invalid address/],
    ['x', /stateOverrides: expected an object/],
    [{ [contract]: 5 }, /stateOverrides: expected an object/],
    [{ [contract]: { balance: '-5' } }, /stateOverrides\.balance: expected a number/],
    [{ [contract]: { balance: `0x${'f'.repeat(64)}` } }, /2\^255 or more/],
    [{ [contract]: { code: '0x1' } }, /stateOverrides\.code: expected bytes/],
    [{ [contract]: { state: [] } }, /stateOverrides\.state: expected an object/],
    [{ [contract]: { stateDiff: { '0x0': 'zz' } } }, /stateOverrides\.word: expected a number/],
    [{ [contract]: { state: {}, stateDiff: {} } }, /cannot be set at the same time/],
    [{ [contract]: { movePrecompileToAddress: poor } }, /can not be moved/],
    [{ '0x0000000000000000000000000000000001000006': { movePrecompileToAddress: poor } }, /can not be moved/],
    [{ '0x0000000000000000000000000000000000000004': { code: '0x00' } }, /can not be overridden/],
  ])('error: eth_call with %j', async (state, message) => {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      expect((await node.ask(method, [{ to: contract }, 'latest', state])).error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(message),
      })
    }
  })

  test('behavior: simulated blocks build on each other', async () => {
    const blocks = await client().simulateBlocks({
      blocks: [
        {
          stateOverrides: [
            { address: contract, code: count },
            { address: poor, balance: parseEther('1') },
          ],
          calls: [
            { account: poor, to: contract },
            { account: poor, to: contract },
            { account: poor, to: cow, value: 5n },
          ],
        },
        {
          blockOverrides: { number: 2n, time: 0x70000000n, feeRecipient: cow },
          stateOverrides: [{ address: contract, code: readCell }],
          calls: [{ account: poor, to: contract }],
        },
      ],
    })
    expect(blocks.map(({ number }) => number)).toEqual([1n, 2n])
    expect(blocks.map(({ calls }) => calls.map(({ status }) => status))).toEqual([
      ['success', 'success', 'success'],
      ['success'],
    ])
    expect(blocks[1]?.calls[0]?.data).toBe(pad('0x2'))
    expect(blocks[1]?.parentHash).toBe(blocks[0]?.hash)
    expect([blocks[1]?.timestamp, blocks[1]?.miner]).toEqual([0x70000000n, cow])
    expect(blocks[0]?.gasUsed).toBe(blocks[0]?.calls.reduce((sum, { gasUsed }) => sum + gasUsed, 0n))
    // The second call found the nonce that the first call left.
    expect(new Set(blocks[0]?.transactions?.map(String)).size).toBe(3)
  })

  test('behavior: gaps between numbers are filled, and blocks see the hashes below them', async () => {
    // BLOCKHASH of block 2.
    const code = '0x60024060005260206000f3'
    const request = {
      blockStateCalls: [
        { blockOverrides: { number: '0x4' }, stateOverrides: { [contract]: { code } }, calls: [{ to: contract }] },
      ],
      returnFullTransactions: true,
    }
    type Simulated = { number: string; hash: string; calls: { returnData: string }[]; transactions: object[] }
    const blocks = await node.result<Simulated[]>('eth_simulateV1', [request, 'latest'])
    expect(blocks.map(({ number }) => number)).toEqual(['0x1', '0x2', '0x3', '0x4'])
    expect(blocks[3]?.calls[0]?.returnData).toBe(blocks[1]?.hash)
    expect(blocks[3]?.transactions[0]).toMatchObject({ to: contract, blockNumber: '0x4', from: `0x${'0'.repeat(40)}` })
  })

  test('behavior: transfers show up as logs, those of failed frames do not', async () => {
    const simulate = (calls: object[], code: string) =>
      node.result<{ calls: { status: string; logs: { address: string; data: string }[]; error?: object }[] }[]>(
        'eth_simulateV1',
        [
          {
            blockStateCalls: [
              { stateOverrides: { [contract]: { code, balance: '0x10' }, [poor]: { balance: '0x100' } }, calls },
            ],
            traceTransfers: true,
          },
        ],
      )
    const call = { from: poor, to: contract, value: '0x7' }
    const [plain] = await simulate([{ from: poor, to: cow, value: '0x5' }, call], '0x00')
    expect(plain?.calls.map(({ logs }) => logs.map(({ data }) => BigInt(data)))).toEqual([[5n], [7n]])
    expect(plain?.calls[0]?.logs[0]?.address).toBe(`0x${'ee'.repeat(20)}`)
    const [failed] = await simulate([call], payAndRevert)
    expect(failed?.calls[0]).toMatchObject({
      status: '0x0',
      logs: [],
      returnData: pad('0x7'),
      error: { code: 3, data: pad('0x7') },
    })
  })

  test.each([
    [{}, -32602],
    [{ blockStateCalls: {} }, -32602],
    [{ blockStateCalls: [5] }, -32602],
    [{ blockStateCalls: [{ calls: [{ to: '0x1' }] }] }, -32602],
    [{ blockStateCalls: [], validation: 'yes' }, -32602],
    [{ blockStateCalls: [{ blockOverrides: { number: '0x0' } }] }, -38020],
    [{ blockStateCalls: [{ blockOverrides: { time: '0x0' } }] }, -38021],
    [{ blockStateCalls: [{ blockOverrides: { number: '0xffff' } }] }, -38026],
    [{ blockStateCalls: [{ calls: Array(1001).fill({}) }] }, -38026],
    [{ blockStateCalls: [{ calls: [{ from: poor, to: cow, value: '0x1' }] }] }, -38014],
    [{ blockStateCalls: [{ calls: [{ from: cow, to: poor, gas: '0x10' }] }] }, -38013],
    [{ blockStateCalls: [{ calls: [{ from: cow, to: poor, gas: '0xffffffffff' }] }] }, -38015],
    [{ blockStateCalls: [{ calls: [{ from: cow, to: poor, nonce: '0x5' }] }], validation: true }, -38011],
    [
      {
        blockStateCalls: [
          { blockOverrides: { baseFeePerGas: '0x9' }, calls: [{ from: cow, to: poor, gasPrice: '0x8' }] },
        ],
        validation: true,
      },
      -38012,
    ],
  ])('error: eth_simulateV1 %j', async (request, code) => {
    expect((await node.ask('eth_simulateV1', [request])).error?.code).toBe(code)
  })

  test('behavior: an endless simulation ends', async () => {
    const slow = await NodeProcess.start([], '[rpc]\ntimeoutMs = 500\ncallGasCap = 1000000000000\n')
    const endless = {
      stateOverrides: { [contract]: { code: '0x5b600056' } },
      blockOverrides: { gasLimit: '0xffffffffffff' },
      calls: [{ to: contract }],
    }
    expect((await slow.ask('eth_simulateV1', [{ blockStateCalls: [endless] }])).error?.code).toBe(-32011)
    await slow.stop()
  })
})
