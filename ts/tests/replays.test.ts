import { pad, toHex } from 'viem'
import { expect, test } from 'vitest'
import { NodeProcess, scratchFolder } from './node.ts'

const contract = '0x00000000000000000000000000000000000c0de1'
/** Adds one to storage slot 0, logs, and returns the sum. */
const count = '0x6001600054018060005560005260006000a060206000f3'
const modules = 'modules.debug.enabled = true\nmodules.trace.enabled = true\n'
const calls = { tracer: 'callTracer', tracerConfig: { withLog: true } }

/** Mines calls of the contract and transfers by several accounts in one block. Resolves with their hashes in order. */
async function mineCalls(node: NodeProcess, each: number): Promise<string[]> {
  const accounts = (await node.result<string[]>('eth_accounts')).slice(0, 4)
  await node.result('evm_setAutomine', [false])
  const nonces = await Promise.all(
    accounts.map(async (from) => Number(await node.result('eth_getTransactionCount', [from, 'latest']))),
  )
  for (let turn = 0; turn < each; turn++)
    for (const [index, from] of accounts.entries()) {
      const common = { from, gas: '0x186a0', gasPrice: '0x1', nonce: toHex((nonces[index] ?? 0) + turn) }
      // The last account only pays, so its transactions may run in parallel with the others.
      const target =
        index === accounts.length - 1 ? { to: pad(toHex(0xbeef + turn), { size: 20 }), value: '0x1' } : { to: contract }
      await node.result('eth_sendTransaction', [{ ...common, ...target }])
    }
  await node.result('evm_mine')
  await node.result('evm_setAutomine', [true])
  const { transactions } = await node.result<{ transactions: string[] }>('eth_getBlockByNumber', ['latest', false])
  expect(transactions).toHaveLength(each * accounts.length + 1)
  return transactions
}

/** Returns all trace answers about a transaction. */
function traces(node: NodeProcess, hash: string): Promise<string[]> {
  const questions: [string, unknown[]][] = [
    ['debug_traceTransaction', [hash, calls]],
    ['debug_traceTransaction', [hash]],
    ['debug_traceTransaction', [hash, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }]],
    ['trace_transaction', [hash]],
    ['trace_replayTransaction', [hash, ['trace', 'stateDiff', 'vmTrace']]],
  ]
  return Promise.all(
    questions.map(async ([method, params]) => {
      const { text } = await node.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      expect(text).toContain('"result":')
      return text
    }),
  )
}

test('behavior: the order in which the transactions of a block are traced makes no difference', async () => {
  const flags = ['--data-dir', scratchFolder()]
  let node = await NodeProcess.start(flags, modules)
  await node.result('hardhat_setCode', [contract, count])
  const hashes = await mineCalls(node, 10)
  const mixed = new Map<string, string[]>()
  // 41 transactions, two at a time, as from two clients.
  for (let turn = 0; turn < hashes.length; turn += 2) {
    const pair = [turn, turn + 1].map((at) => hashes[(at * 16) % hashes.length] ?? '')
    const found = await Promise.all(pair.map((hash) => traces(node, hash)))
    for (const [at, hash] of pair.entries()) mixed.set(hash, found[at] ?? [])
  }
  expect(mixed.size).toBe(hashes.length)
  await node.stop()

  node = await NodeProcess.start(flags, modules)
  const block = await node.result<{ txHash: string; result: unknown }[]>('debug_traceBlockByNumber', ['latest', calls])
  for (const [index, hash] of hashes.entries()) {
    const ordered = await traces(node, hash)
    expect(ordered).toEqual(mixed.get(hash))
    expect(block[index]).toEqual({ txHash: hash, result: JSON.parse(ordered[0] ?? '').result })
  }
  await node.stop()
})

test('behavior: traces follow reverts of the chain and state that was set directly', async () => {
  const node = await NodeProcess.start([], modules)
  await node.result('hardhat_setCode', [contract, count])
  const outputs = async (hashes: string[]) => {
    const sums: number[] = []
    // From the last to the first, so that each but the first finds a replay in the cache.
    for (const hash of hashes.toReversed()) {
      const trace = await node.result<{ to: string; output?: string }>('debug_traceTransaction', [hash, calls])
      if (trace.to === contract) sums.unshift(Number(trace.output))
    }
    return sums
  }
  const from = (first: number) => Array.from({ length: 9 }, (_none, index) => first + index)
  const snapshot = await node.result('evm_snapshot')
  let earlier: string[] = []
  for (const start of [10, 100, 10]) {
    await node.result('hardhat_setStorageAt', [contract, '0x0', pad(toHex(start))])
    const hashes = await mineCalls(node, 3)
    expect(await outputs(hashes)).toEqual(from(start + 1))
    // The same transactions, because their senders have the same nonces again.
    if (earlier.length > 0) expect(hashes.toSorted()).toEqual(earlier.toSorted())
    earlier = hashes
    // A change after a block affects neither the block nor its traces.
    await node.result('hardhat_setStorageAt', [contract, '0x0', pad('0x7')])
    expect(await outputs(hashes)).toEqual(from(start + 1))
    const next = await mineCalls(node, 1)
    expect(await outputs(next)).toEqual([8, 9, 10])
    expect(await node.result('evm_revert', [snapshot])).toBe(true)
    expect(await node.result('debug_traceTransaction', [hashes[0], calls])).toBeNull()
  }
  await node.stop()
})
