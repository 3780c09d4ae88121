import { createPublicClient, createWalletClient, defineChain, http, keccak256, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from './contract.ts'
import { NodeProcess } from './node.ts'

// Methods and block tags that tools use besides those of rskj, through viem where it has them.

const account = privateKeyToAccount(keys[0])
const contract = '0x000000000000000000000000000000000000c0de'
/** Adds one to storage slot 0 and returns it. */
const count = '0x600160005401806000556000526020 6000f3'.replace(' ', '')
const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
const modules = 'modules.debug.enabled = true\nmodules.trace.enabled = true\n'
const miner = '[rpc]\nsafeDepth = 2\nfinalizedDepth = 4\nsendWaitMs = 3000\n'

describe('a development node', () => {
  let node: NodeProcess
  const clients = () => {
    const rpcUrls = { default: { http: [node.url] } }
    const nativeCurrency = { name: 'RBTC', symbol: 'RBTC', decimals: 18 }
    const chain = defineChain({ id: 33, name: 'regtest', nativeCurrency, rpcUrls })
    const transport = http(node.url, { retryCount: 0 })
    const reader = createPublicClient({ chain, transport, pollingInterval: 50, cacheTime: 0 })
    return { reader, writer: createWalletClient({ chain, transport, account }) }
  }
  const signed = (nonce: number, gasPrice = 1000n) =>
    account.signTransaction({ type: 'legacy', chainId: 33, nonce, to: contract, gas: 100_000n, gasPrice })

  beforeAll(async () => {
    node = await NodeProcess.start([], `${modules}${miner}`)
    await node.result('hardhat_setCode', [contract, count])
    await node.result('hardhat_mine', ['0x6'])
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node?.stop()
  })

  test('tags of blocks below the head', async () => {
    const { reader } = clients()
    const head = await reader.getBlockNumber()
    expect((await reader.getBlock({ blockTag: 'safe' })).number).toBe(head - 2n)
    expect((await reader.getBlock({ blockTag: 'finalized' })).number).toBe(head - 4n)
    expect(await reader.getBalance({ address: account.address, blockTag: 'finalized' })).toBeGreaterThan(0n)
    const { data } = await reader.call({ to: contract, blockTag: 'safe' })
    expect(data).toBe(word(1))
    expect(await reader.getLogs({ fromBlock: 'finalized', toBlock: 'safe' })).toEqual([])
    await expect(reader.getLogs({ fromBlock: 'latest', toBlock: 'safe' })).rejects.toThrow(
      'fromBlock cannot be greater',
    )
    const filter = await reader.createEventFilter({ fromBlock: 'finalized', toBlock: 'latest' })
    expect(await reader.getFilterChanges({ filter })).toEqual([])
    const traces = { fromBlock: 'finalized', toBlock: 'safe' }
    expect((await node.ask('trace_filter', [traces])).error).toBeUndefined()
    await node.result('evm_mine')
    expect((await reader.getBlock({ blockTag: 'finalized' })).number).toBe(head - 3n)
  })

  test('waits for the receipt of a transaction', async () => {
    const { writer, reader } = clients()
    const nonce = await reader.getTransactionCount(account)
    const receipt = await writer.sendRawTransactionSync({ serializedTransaction: await signed(nonce) })
    expect(receipt).toMatchObject({ status: 'success', to: contract, from: account.address.toLowerCase() })
    await node.result('evm_setAutomine', [false])
    const raw = await signed(nonce + 1)
    expect((await node.ask('eth_sendRawTransactionSync', [raw, 300])).error).toMatchObject({
      code: 4,
      data: keccak256(raw),
    })
    const found = await node.result<object>('eth_getTransactionBySenderAndNonce', [account.address, nonce + 1])
    expect(found).toMatchObject({ hash: keccak256(raw), blockHash: null })
    const { pending } = await node.result<{ pending: object }>('txpool_contentFrom', [account.address])
    expect(pending).toMatchObject({ [nonce + 1]: { hash: keccak256(raw) } })
    const next = await signed(nonce + 2)
    const waiting = node.ask('eth_sendRawTransactionSync', [next])
    await expect.poll(() => reader.getTransactionCount({ ...account, blockTag: 'pending' })).toBe(nonce + 3)
    await node.result('evm_mine')
    expect((await waiting) as unknown).toMatchObject({ result: { transactionHash: keccak256(next) } })
    await node.result('evm_setAutomine', [true])
    for (const [number, hash] of [raw, next].map((one, index) => [nonce + 1 + index, keccak256(one)])) {
      const mined = await node.result('eth_getTransactionBySenderAndNonce', [account.address, number])
      expect(mined).toMatchObject({ hash, from: account.address.toLowerCase() })
    }
    expect(await node.result('eth_getTransactionBySenderAndNonce', [account.address, 99])).toBeNull()
  })

  test('fills and sends a transaction', async () => {
    const { writer, reader } = clients()
    const { transaction } = await reader.fillTransaction({ account, to: contract, value: parseEther('0.1') })
    expect(transaction).toMatchObject({ type: 'legacy', nonce: await reader.getTransactionCount(account) })
    const { nonce, gas, gasPrice, to, value } = transaction as never
    const hash = await writer.sendTransaction({ type: 'legacy', nonce, gas, gasPrice, to, value })
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
  })

  test('calls of a sequence see the changes before them', async () => {
    const before = Number(await node.result('eth_getStorageAt', [contract, '0x0', 'latest']))
    const call = { from: account.address, to: contract }
    const bundle = { transactions: [call, call] }
    const values = await node.result<{ value: string }[][]>('eth_callMany', [[bundle, bundle]])
    expect(values.flat().map(({ value }) => Number(value) - before)).toEqual([1, 2, 3, 4])
    const pretended = { [contract]: { stateDiff: { '0x0': word(40) } } }
    const overridden = await node.result('eth_callMany', [[bundle], { blockNumber: 'latest' }, pretended])
    expect(overridden).toEqual([[{ value: word(41) }, { value: word(42) }]])
    // On the state before the transactions of the first block that changed the contract.
    const first = await node.result<{ blockNumber: string }>('eth_getTransactionBySenderAndNonce', [account.address, 0])
    const earlier = { blockNumber: first.blockNumber, transactionIndex: 0 }
    expect(await node.result('eth_callMany', [[{ transactions: [call] }], earlier])).toEqual([[{ value: word(1) }]])

    const types = ['trace', 'stateDiff']
    const traces = await node.result<{ output: string; stateDiff: Record<string, { storage: object }> }[]>(
      'trace_callMany',
      [
        [
          [call, types],
          [call, types],
        ],
      ],
    )
    expect(traces.map(({ output }) => Number(output) - before)).toEqual([1, 2])
    expect(traces[1]?.stateDiff[contract]?.storage).toEqual({
      [word(0)]: { '*': { from: word(before + 1), to: word(before + 2) } },
    })
    const raw = await signed(0)
    expect(await node.result('trace_rawTransaction', [raw, types])).toMatchObject({ output: word(before + 1) })
    expect(await node.result('eth_getStorageAt', [contract, '0x0', 'latest'])).toBe(word(before))
  })

  test('traces a call on a pretended state, and a block by its encoding', async () => {
    const call = { from: account.address, to: contract }
    const stateOverrides = { [contract]: { stateDiff: { '0x0': word(9) } } }
    const options = { tracer: 'callTracer', stateOverrides, blockOverrides: { number: '0x99' } }
    expect(await node.result('debug_traceCall', [call, 'latest', options])).toMatchObject({ output: word(10) })
    const { blockHash } = await node.result<{ blockHash: string }>('eth_getTransactionBySenderAndNonce', [
      account.address,
      0,
    ])
    const raw = await node.result<string>('debug_getRawBlock', [{ blockHash }])
    const tracer = { tracer: 'callTracer' }
    const expected = await node.result('debug_traceBlockByHash', [blockHash, tracer])
    expect(await node.result('debug_traceBlock', [raw, tracer])).toEqual(expected)
    expect((await node.ask('debug_traceBlock', ['0xc0'])).error?.code).toBe(-32602)
    // A block that is no longer known.
    const snapshot = await node.result('evm_snapshot')
    await node.result('evm_mine')
    const lost = await node.result<string>('debug_getRawBlock', ['latest'])
    await node.result('evm_revert', [snapshot])
    expect(await node.result<object[]>('debug_traceBlock', [lost, tracer])).toHaveLength(1)
    await node.result('evm_mine')
  })

  test('tracers of geth', async () => {
    const { hash } = await node.result<{ hash: string }>('eth_getTransactionBySenderAndNonce', [account.address, 0])
    const traced = (tracer: string, tracerConfig: object = {}) =>
      node.result('debug_traceTransaction', [hash, { tracer, tracerConfig }])
    expect(await traced('noopTracer')).toEqual({})
    const call = { to: contract, data: '0x0102030405' }
    expect(await node.result('debug_traceCall', [call, 'latest', { tracer: '4byteTracer' }])).toEqual({
      '0x01020304-1': 1,
    })
    expect(await traced('flatCallTracer')).toEqual(await node.result('trace_transaction', [hash]))
    expect(await traced('muxTracer', { callTracer: { withLog: true }, '4byteTracer': null })).toEqual({
      callTracer: await traced('callTracer', { withLog: true }),
      '4byteTracer': {},
    })
    expect(await traced('muxTracer', { callTracer: {}, prestateTracer: { diffMode: true } })).toEqual({
      callTracer: await traced('callTracer'),
      prestateTracer: await traced('prestateTracer', { diffMode: true }),
    })
    expect(await traced('erc7562Tracer')).toMatchObject({
      type: 'CALL',
      to: contract,
      accessedSlots: { reads: { [word(0)]: [word(0)] }, writes: { [word(0)]: 1 }, transientReads: {} },
      usedOpcodes: { '0x52': 1, '0x54': 1, '0x55': 1, '0xf3': 1 },
      extCodeAccessInfo: [],
      contractSize: {},
      outOfGas: false,
    })
    const nested = { tracer: 'muxTracer', tracerConfig: { muxTracer: {} } }
    expect((await node.ask('debug_traceTransaction', [hash, nested])).error?.code).toBe(-32602)
  })

  test('lists storage slots in the order of their hashes', async () => {
    const slots = ['0x0', '0x1', '0x2', '0x3']
    for (const slot of slots.slice(1)) await node.result('hardhat_setStorageAt', [contract, slot, word(7)])
    await node.result('evm_mine')
    const block = await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    type Range = { storage: Record<string, { key: string; value: string }>; nextKey: string | null }
    const range = (start: string, most: number) =>
      node.result<Range>('debug_storageRangeAt', [block.hash, 0, contract, start, most])
    const whole = await range('0x0', 100)
    const hashes = slots.map((slot) => keccak256(word(Number(slot)) as `0x${string}`)).sort()
    expect(Object.keys(whole.storage)).toEqual(hashes)
    expect(whole.nextKey).toBeNull()
    let [start, pages]: [string | null, object] = ['0x0', {}]
    while (start !== null) {
      const page: Range = await range(start, 1)
      pages = { ...pages, ...page.storage }
      start = page.nextKey
    }
    expect(pages).toEqual(whole.storage)
    expect(await node.result('eth_getStorageValues', [{ [contract]: ['0x1', '0x9'] }, 'latest'])).toEqual({
      [contract]: [word(7), word(0)],
    })
    expect((await node.ask('eth_getStorageValues', [{}, 'latest'])).error?.message).toContain('empty request')
  })

  test('rules and data of the node', async () => {
    const { current } = await node.result<{ current: object }>('eth_config')
    expect(current).toMatchObject({
      chainId: '0x21',
      precompiles: { BRIDGE: '0x0000000000000000000000000000000001000006' },
    })
    expect(await node.result('eth_capabilities')).toMatchObject({
      head: { number: await node.result('eth_blockNumber') },
      state: { disabled: false, oldestBlock: '0x0' },
    })
  })
})

test('behavior: a node like the reference refuses the tags', async () => {
  const node = await NodeProcess.start(['--compat', 'reference'])
  const refused = async (method: string, params: unknown[]) => (await node.ask(method, params)).error
  for (const tag of ['safe', 'finalized']) {
    const state = { code: -32602, message: `Invalid block identifier '${tag}'` }
    const numbered = { code: -32602, message: `invalid blocknumber ${tag}` }
    expect(await refused('eth_getBalance', [account.address, tag])).toMatchObject(state)
    expect(await refused('eth_getBlockByNumber', [tag, false])).toMatchObject(numbered)
    expect(await refused('eth_getLogs', [{ fromBlock: tag }])).toMatchObject(numbered)
    expect(await refused('eth_newFilter', [{ fromBlock: tag }])).toMatchObject(numbered)
    expect(await refused('trace_filter', [{ fromBlock: tag }])).toMatchObject(numbered)
  }
  await node.stop()
})
