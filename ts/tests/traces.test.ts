import { ethers } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, encodeFunctionData, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { compile } from '../../docs/examples/compile.mjs'
import { keys } from './contract.ts'
import { NodeProcess } from './node.ts'

const { bytecode } = compile('Traced', import.meta.url)
const abi = parseAbi([
  'function work() payable returns (uint256)',
  'function refuse()',
  'function spin() view',
  'event Worked(uint256 count)',
])
const account = privateKeyToAccount(keys[0])
const modules = 'modules.debug.enabled = true\nmodules.trace.enabled = true\n'
const callData = (functionName: 'work' | 'refuse' | 'spin') => encodeFunctionData({ abi, functionName })

interface Call {
  type: string
  from: string
  to?: string
  value?: string
  gas: string
  gasUsed: string
  input: string
  output?: string
  error?: string
  revertReason?: string
  calls?: Call[]
  logs?: { address: string; index: string; position: string; topics: string[]; data: string }[]
}

interface Trace {
  action: Record<string, string>
  result: Record<string, string> | null
  error?: string
  type: string
  subtraces: number
  traceAddress: number[]
  blockNumber?: number
}

/** Returns type and error of each call, one per line, inner calls indented. */
function outline(call: Call, indent = ''): string[] {
  const line = `${indent}${call.type}${call.error === undefined ? '' : `: ${call.error}`}`
  return [line, ...(call.calls ?? []).flatMap((inner) => outline(inner, `${indent}  `))]
}

const workOutline = [
  'CALL',
  '  CREATE',
  '  CALL',
  '  STATICCALL: execution reverted',
  '  CREATE: execution reverted',
  '  STATICCALL',
  '  CALL',
  '    SELFDESTRUCT',
]

describe('traces of a contract', () => {
  let node: NodeProcess
  let contract: `0x${string}`
  let work: `0x${string}`
  let refused: `0x${string}`

  const clients = () => {
    const rpcUrls = { default: { http: [node.url] } }
    const chain = defineChain({
      id: 33,
      name: 'regtest',
      nativeCurrency: { name: '', symbol: '', decimals: 18 },
      rpcUrls,
    })
    const transport = http(node.url, { retryCount: 0 })
    return {
      reader: createPublicClient({ chain, transport, pollingInterval: 50, cacheTime: 0 }),
      writer: createWalletClient({ chain, transport, account }),
    }
  }
  /** Calls the trace methods through viem, which has no types for them. */
  const viem = <T>(method: string, params: unknown[]) =>
    clients().reader.request({ method, params } as never) as Promise<T>

  beforeAll(async () => {
    node = await NodeProcess.start([], modules)
    const { reader, writer } = clients()
    const deployed = await writer.deployContract({ abi, bytecode: bytecode as `0x${string}` })
    contract = (await reader.waitForTransactionReceipt({ hash: deployed })).contractAddress as `0x${string}`
    work = await writer.sendTransaction({
      to: contract,
      data: callData('work'),
      value: 5n,
      gas: 3_000_000n,
      gasPrice: 1000n,
    })
    await reader.waitForTransactionReceipt({ hash: work })
    // The reverted transaction is mined, and its sender gets an error.
    refused = await account
      .signTransaction({
        chainId: 33,
        type: 'legacy',
        nonce: await reader.getTransactionCount({ address: account.address }),
        to: contract,
        data: callData('refuse'),
        gas: 3_000_000n,
        gasPrice: await reader.getGasPrice(),
      })
      .then(async (raw) => {
        const { error } = await node.ask('eth_sendRawTransaction', [raw])
        expect(error?.code).toBe(-32015)
        return ethers.keccak256(raw) as `0x${string}`
      })
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node?.stop()
  })

  test('behavior: viem gets the tree of calls with logs', async () => {
    const call = await viem<Call>('debug_traceTransaction', [
      work,
      { tracer: 'callTracer', tracerConfig: { withLog: true } },
    ])
    expect(outline(call)).toEqual(workOutline)
    const receipt = await clients().reader.getTransactionReceipt({ hash: work })
    expect(BigInt(call.gasUsed)).toBe(receipt.gasUsed)
    expect(BigInt(call.output ?? '0x')).toBe(42n)
    expect(call).toMatchObject({ from: account.address.toLowerCase(), to: contract, value: '0x5', gas: '0x2dc6c0' })
    const [created, doubled, failed, unlucky, hashed, killed] = call.calls as [Call, Call, Call, Call, Call, Call]
    expect(created).toMatchObject({ from: contract, to: doubled.to, value: '0x5' })
    expect(created.logs).toEqual([{ ...created.logs?.[0], address: created.to, index: '0x0', position: '0x0' }])
    expect(call.logs).toEqual([{ ...call.logs?.[0], address: contract, index: '0x1', position: '0x2' }])
    expect(failed.revertReason).toBe('child says no')
    expect(unlucky.revertReason).toBe('unlucky')
    expect(unlucky).not.toHaveProperty('to')
    expect(hashed).toMatchObject({ to: `0x${'2'.padStart(40, '0')}`, input: '0x616263' })
    expect(hashed.output).toBe('0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(killed.calls?.[0]).toMatchObject({ from: created.to, to: account.address.toLowerCase(), value: '0x5' })
    const top = await viem<Call>('debug_traceTransaction', [work, { tracer: 'callTracer', onlyTopCall: true }])
    expect(outline(top)).toEqual(['CALL'])
  })

  test('behavior: ethers gets the list of calls', async () => {
    const provider = new ethers.JsonRpcProvider(node.url, 33, { staticNetwork: true })
    const traces = (await provider.send('trace_transaction', [work])) as Trace[]
    expect(traces.map(({ traceAddress, type, error }) => [traceAddress.join('.'), type, error])).toEqual([
      ['', 'call', undefined],
      ['0', 'create', undefined],
      ['1', 'call', undefined],
      ['2', 'call', 'Reverted'],
      ['3', 'create', 'Reverted'],
      ['4', 'call', undefined],
      ['5', 'call', undefined],
      ['5.0', 'suicide', undefined],
    ])
    expect(traces[0]).toMatchObject({ subtraces: 6, blockNumber: 2, action: { value: '0x5', callType: 'call' } })
    expect(BigInt(traces[0]?.result?.output ?? '0x')).toBe(42n)
    expect(traces[1]?.result?.code).toMatch(/^0x60/)
    expect(traces[7]).toMatchObject({ result: null, action: { balance: '0x5', address: traces[1]?.result?.address } })
    const block = (await provider.send('trace_block', ['0x2'])) as Trace[]
    expect(block.slice(0, 8)).toEqual(traces)
    expect(await provider.send('trace_get', [work, ['0x3']])).toEqual(traces[3])
    expect(await provider.send('trace_get', [work, ['0xff']])).toBeNull()
    const from = account.address
    const found = (await provider.send('trace_filter', [
      { fromBlock: '0x2', toBlock: '0x2', fromAddress: [from] },
    ])) as Trace[]
    expect(found).toEqual(traces)
    const page = (await provider.send('trace_filter', [
      { fromAddress: from, toAddress: contract, after: 2, count: 3 },
    ])) as Trace[]
    expect(page).toEqual(traces.slice(2, 5))
    provider.destroy()
  })

  test('behavior: web3.js replays with changes of the state and instructions', async () => {
    const web3 = new Web3(node.url)
    const request = async <T>(method: string, params: unknown[]) => {
      const answer = await web3.provider?.request({ jsonrpc: '2.0', id: 1, method, params } as never)
      return (answer as unknown as { result: T }).result
    }
    interface Replay {
      output: string
      trace: Trace[]
      stateDiff: Record<string, Record<string, unknown>> | null
      vmTrace: { code: string; ops: { op: string; idx: string; sub: { ops: unknown[] } | null }[] } | null
      transactionHash?: string
    }
    const replay = await request<Replay>('trace_replayTransaction', [work, ['trace', 'stateDiff', 'vmTrace']])
    expect(BigInt(replay.output)).toBe(42n)
    expect(replay.trace).toHaveLength(8)
    const child = replay.trace[1]?.result?.address as string
    const { storage, balance } = replay.stateDiff?.[contract] as {
      storage: Record<string, unknown>
      balance: unknown
    }
    expect(storage[`0x${'1'.padStart(64, '0')}`]).toEqual({
      '*': { from: `0x${'0'.repeat(64)}`, to: `0x${'2a'.padStart(64, '0')}` },
    })
    expect(balance).toBe('=')
    // The contract was created and destroyed in the same transaction.
    expect(replay.stateDiff).not.toHaveProperty([child])
    expect(replay.stateDiff?.[account.address.toLowerCase()]).toMatchObject({
      code: '=',
      nonce: { '*': { from: '0x1', to: '0x2' } },
    })
    const creation = replay.vmTrace?.ops.find(({ op }) => op === 'CREATE')
    expect(creation?.sub?.ops.length).toBeGreaterThan(10)
    expect(replay.vmTrace?.ops[3]?.idx).toBe('0-3')
    const block = await request<Replay[]>('trace_replayBlockTransactions', ['0x2', ['trace']])
    expect(block[0]).toMatchObject({ transactionHash: work, trace: replay.trace, stateDiff: null, vmTrace: null })
    const object = { from: account.address, to: contract, data: callData('work'), value: '0x5' }
    const called = await request<Replay>('trace_call', [object, ['trace'], 'latest'])
    expect(called.trace.map(({ type }) => type)).toEqual(replay.trace.map(({ type }) => type))
  })

  test('behavior: the default tracer shows every instruction in the shape of the reference', async () => {
    interface StructLogs {
      structLogs: { op: string; depth: number; gas: number; gasCost: number; stack?: string[]; storage?: object }[]
      contractAddress: string
      currentStorage: Record<string, string>
      result: string
      error: string
      reverted: boolean
    }
    const logs = await node.result<StructLogs>('debug_traceTransaction', [work, { disableMemory: true }])
    expect(logs).toMatchObject({ contractAddress: contract.slice(2), error: '', reverted: false })
    expect(BigInt(`0x${logs.result}`)).toBe(42n)
    expect(logs.structLogs[0]).toMatchObject({ op: 'PUSH1', depth: 0, gasCost: 3, stack: [] })
    expect(logs.structLogs[0]).not.toHaveProperty('memory')
    expect(logs.structLogs.some(({ op, depth }) => op === 'SUICIDE' && depth === 1)).toBe(true)
    expect(logs.currentStorage['1'.padStart(64, '0')]).toBe('2a'.padStart(64, '0'))
    const blocks = await node.result<StructLogs[]>('debug_traceBlockByNumber', ['0x2', { disableMemory: true }])
    expect(blocks[0]).toEqual(logs)
    expect(blocks).toHaveLength(2)
  })

  test('behavior: failures carry their reasons', async () => {
    const call = await viem<Call>('debug_traceTransaction', [refused, { tracer: 'callTracer' }])
    expect(outline(call)).toEqual(['CALL: execution reverted', '  CREATE', '  STATICCALL: execution reverted'])
    expect(call.revertReason).toBe('child says no')
    const traces = await viem<Trace[]>('trace_transaction', [refused])
    expect(traces.map(({ error }) => error)).toEqual(['Reverted', undefined, 'Reverted'])
    const block = await clients().reader.getTransaction({ hash: refused })
    const byHash = await viem<{ txHash: string; result: Call }[]>('debug_traceBlockByHash', [
      block.blockHash,
      { tracer: 'callTracer' },
    ])
    expect(byHash[0]).toEqual({ txHash: refused, result: call })
  })

  test('behavior: the prestate tracer shows the prior state, and in diff mode the changes', async () => {
    const sender = account.address.toLowerCase()
    type Accounts = Record<
      string,
      { balance?: string; nonce?: number; code?: string; storage?: Record<string, string> }
    >
    const before = await viem<Accounts>('debug_traceTransaction', [work, { tracer: 'prestateTracer' }])
    expect(before[sender]).toMatchObject({ nonce: 1 })
    expect(before[contract]?.code).toMatch(/^0x60/)
    expect(before[contract]?.storage).toMatchObject({ [`0x${'1'.padStart(64, '0')}`]: `0x${'0'.repeat(64)}` })
    const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
    const { pre, post } = await viem<{ pre: Accounts; post: Accounts }>('debug_traceTransaction', [work, options])
    expect(post[sender]).toMatchObject({ nonce: 2 })
    expect(Object.values(post[contract]?.storage ?? {})).toContain(`0x${'2a'.padStart(64, '0')}`)
    expect(post[contract]).not.toHaveProperty('code')
    const spent = BigInt(pre[sender]?.balance ?? 0) - BigInt(post[sender]?.balance ?? 0)
    const receipt = await clients().reader.getTransactionReceipt({ hash: work })
    // The self-destruct returned the five wei.
    expect(spent).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
  })

  test('behavior: calls are traced without a transaction', async () => {
    const object = { from: account.address, to: contract, data: callData('work'), value: '0x5' }
    const call = await viem<Call>('debug_traceCall', [object, 'latest', { tracer: 'callTracer' }])
    expect(outline(call)).toEqual(workOutline)
    expect(await viem('debug_traceCall', [{ to: account.address }, 'latest'])).toMatchObject({ programInvoke: null })
    const accounts = await viem<object>('debug_traceCall', [object, 'latest', { tracer: 'prestateTracer' }])
    expect(accounts).toHaveProperty([contract])
  })

  test('behavior: unknown transactions are null, and the genesis block has no traces', async () => {
    const unknown = `0x${'ab'.repeat(32)}`
    for (const [method, params] of [
      ['debug_traceTransaction', [unknown]],
      ['debug_traceTransaction', [unknown, { tracer: 'callTracer' }]],
      ['debug_traceBlockByHash', [unknown]],
      ['debug_traceBlockByNumber', ['0x999']],
      ['trace_transaction', [unknown]],
      ['trace_block', ['0x999']],
      ['trace_get', [unknown, ['0x0']]],
      ['trace_replayTransaction', [unknown, ['trace']]],
      ['trace_replayBlockTransactions', ['0x999', ['trace']]],
    ] as const) {
      expect(await node.result(method, [...params])).toBeNull()
    }
    expect(await node.result('debug_traceBlockByNumber', ['earliest'])).toEqual([])
    expect(await node.result('trace_block', ['0x0'])).toEqual([])
    expect(await node.result('debug_wireProtocolQueueSize')).toBe('0x0')
  })

  const hash = `0x${'ab'.repeat(32)}`
  test.each([
    ['debug_traceTransaction', [], /takes \[transactionHash, options\?\], got 0/],
    ['debug_traceTransaction', ['0x12'], /transactionHash: expected 32 bytes/],
    ['debug_traceTransaction', [null], /transactionHash is null/],
    ['debug_traceTransaction', [hash, 'callTracer'], /Invalid trace options .*options: expected an object/],
    ['debug_traceTransaction', [hash, { tracer: 'opcountTracer' }], /Invalid tracer: opcountTracer/],
    ['debug_traceTransaction', [hash, { tracer: 7 }], /Invalid tracer: 7/],
    ['debug_traceTransaction', [hash, { tracerConfig: [] }], /Invalid tracerConfig/],
    ['debug_traceBlockByHash', ['latest'], /Invalid block hash/],
    ['debug_traceBlockByHash', [hash, []], /Invalid trace options/],
    ['debug_traceBlockByNumber', ['newest'], /invalid blocknumber newest/],
    ['debug_traceBlockByNumber', [null], /invalid blocknumber/],
    ['debug_traceBlockByNumber', ['0xffffffffffffffffff'], /Invalid block number/],
    ['debug_traceBlockByNumber', ['0x1', { tracer: '' }], /Invalid tracer/],
    ['debug_traceCall', ['x'], /Invalid call object/],
    ['debug_traceCall', [{ gas: 'lots' }], /call\.gas: expected a number/],
    ['debug_traceCall', [{}, 'newest'], /Invalid block identifier/],
    ['debug_traceCall', [{}, 'latest', 1], /Invalid trace options/],
    ['debug_traceCall', [{}, 'latest', { stateOverrides: 5 }], /Invalid stateOverrides: must be an object/],
    ['debug_traceCall', [{}, '0x999'], /Invalid block number 2457/],
    ['debug_wireProtocolQueueSize', [1], /takes no parameters, got 1/],
    ['trace_transaction', ['0xzz'], /transactionHash: expected 32 bytes/],
    ['trace_block', ['nope'], /invalid blocknumber nope/],
    ['trace_block', [`0x${'g'.repeat(64)}`], /Invalid block hash format/],
    ['trace_block', [5], /invalid blocknumber 5/],
    ['trace_filter', [null], /Invalid trace_filter parameters\./],
    ['trace_filter', ['x'], /Invalid trace_filter parameters\./],
    ['trace_filter', [{ foo: 1 }], /unknown member foo/],
    ['trace_filter', [{ count: '0x5' }], /filter\.count: expected a whole number/],
    ['trace_filter', [{ count: 10_001 }], /Count value too big\. Maximum 10000 traces allowed\./],
    ['trace_filter', [{ after: -1 }], /After value cannot be negative\./],
    ['trace_filter', [{ after: 10_001 }], /After value too big/],
    ['trace_filter', [{ fromBlock: 'zz' }], /filter\.fromBlock: expected/],
    ['trace_filter', [{ fromBlock: '0x2', toBlock: '0x1' }], /fromBlock cannot be greater than toBlock/],
    ['trace_filter', [{ toAddress: ['0x12'] }], /filter\.toAddress: expected 20 bytes/],
    ['trace_get', ['', ['0x0']], /'transactionHash' cannot be null or empty/],
    ['trace_get', [hash, []], /'positions' cannot be null or empty/],
    ['trace_get', [hash, ['0x0', '0x1']], /'positions' accepts only one index/],
    ['trace_get', [hash, ['1']], /positions: expected/],
    ['trace_call', [{}], /takes \[call, types, block\?\], got 1/],
    ['trace_call', [{}, 'trace'], /Invalid trace types: an array is expected/],
    ['trace_call', [{}, ['trace', 'gas']], /Invalid trace type: gas/],
    ['trace_replayTransaction', [hash, [1]], /Invalid trace type: 1/],
    ['trace_replayTransaction', ['0x1', ['trace']], /transactionHash: expected 32 bytes/],
    ['trace_replayBlockTransactions', ['0x1', null], /Invalid trace types/],
    ['trace_replayBlockTransactions', ['tomorrow', ['trace']], /invalid blocknumber tomorrow/],
  ])('error: %s %j', async (method, params, message) => {
    expect((await node.ask(method, params)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(message),
    })
  })
})

describe('traces without end', () => {
  let node: NodeProcess
  const endless = { data: '0x5b600056' }
  beforeAll(async () => {
    node = await NodeProcess.start([], `${modules}rpc.callGasCap = 1000000000000\nrpc.timeoutMs = 60000\n`)
  })
  afterAll(() => node?.stop())

  test.each([
    ['debug_traceCall', [endless, 'latest', {}]],
    ['trace_call', [endless, ['vmTrace']]],
  ])('error: %s ends at its size', async (method, params) => {
    expect((await node.ask(method, params)).error).toEqual({
      code: -32011,
      message: 'Trace size limit of 10485760 bytes exceeded (setting rpc.maxTraceBytes)',
    })
  })

  test('behavior: others are answered while traces run, and those of clients that left are ended', async () => {
    const leaving = new AbortController()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'debug_traceCall',
      params: [endless, 'latest', { tracer: 'callTracer' }],
    })
    const headers = { 'content-type': 'application/json' }
    // More than the number of threads: the rest waits in the queue.
    const running = Array.from({ length: 12 }, () =>
      fetch(node.url, { method: 'POST', headers, body, signal: leaving.signal }),
    )
    const ended = Promise.allSettled(running)
    let hasEnded = false
    void ended.then(() => {
      hasEnded = true
    })
    for (let round = 0; round < 20; round++) {
      expect(await node.result('eth_blockNumber')).toBe('0x0')
      expect(await node.result('eth_call', [{ to: account.address }, 'latest'])).toBe('0x')
    }
    expect(hasEnded).toBe(false)
    leaving.abort()
    await ended
    // If they were still running, this request would wait a minute for a thread.
    const options = { tracer: 'callTracer' }
    expect(await node.result('debug_traceCall', [{ to: account.address }, 'latest', options])).toMatchObject({
      type: 'CALL',
    })
  })
})
