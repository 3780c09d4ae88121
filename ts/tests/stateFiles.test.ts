import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { createTestClient, http } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'

// States in the format of anvil, and blocks that are rolled back or replaced.

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const other = '0x00000000000000000000000000000000000000fe'
/** A state that anvil 1.7 has written. */
const ofAnvil = gunzipSync(
  readFileSync(fileURLToPath(new URL('../../crates/answers/tests/data/anvil_state.json.gz', import.meta.url))),
)

let node: NodeProcess | undefined
afterEach(async () => {
  await node?.stop()
  node = undefined
})

async function start(...flags: string[]): Promise<NodeProcess> {
  await node?.stop()
  node = await NodeProcess.start(flags)
  return node
}

const balance = (address: string): Promise<string> => (node as NodeProcess).result<string>('eth_getBalance', [address])

test.each(['anvil', 'hardhat'] as const)('behavior: dumpState and loadState of viem in mode %s', async (mode) => {
  await start()
  const client = () => createTestClient({ mode, transport: http(node?.url, { retryCount: 0 }) })
  await client().setBalance({ address: other, value: 77n })
  const state = await client().dumpState()
  expect(JSON.parse(gunzipSync(Buffer.from(state.slice(2), 'hex')).toString()).accounts[other]).toEqual({
    nonce: 0,
    balance: '0x4d',
    code: '0x',
    storage: {},
  })
  await start()
  await client().loadState({ state })
  expect(await balance(other)).toBe('0x4d')
  await expect(client().loadState({ state: '0x7b7d' })).rejects.toThrow(/missing field `accounts`/)
})

test('behavior: --state saves at the end and at an interval, and loads at the start', async () => {
  const file = join(scratchFolder(), 'state.json')
  await start('--state', file, '--state-interval', '1')
  expect(existsSync(file)).toBe(false)
  await node?.result('hardhat_setBalance', [other, '0x1'])
  await expect
    .poll(() => existsSync(file) && readFileSync(file, 'utf8').includes(other), { timeout: 10_000 })
    .toBe(true)
  await node?.result('eth_sendTransaction', [{ from: first, to: other, value: '0x1' }])
  await start('--state', file)
  expect([await balance(other), await node?.result('eth_getTransactionCount', [first, 'latest'])]).toEqual([
    '0x2',
    '0x1',
  ])
  await node?.result('eth_sendTransaction', [{ from: first, to: other, value: '0x1' }])
  expect(await balance(other)).toBe('0x3')
})

test('error: a state that cannot be saved at the end', async () => {
  const folder = scratchFolder()
  const ending = await NodeProcess.start(['--dump-state', join(folder, 'state.json')])
  rmSync(folder, { recursive: true })
  expect([await ending.stop(), ending.errors]).toEqual([1, expect.stringContaining('the state could not be saved')])
})

test('behavior: loads a file of anvil', async () => {
  const file = join(scratchFolder(), 'state.json')
  writeFileSync(file, ofAnvil)
  await start('--load-state', file)
  const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
  const slot = await node?.result<string>('eth_getStorageAt', [contract, '0x0', 'latest'])
  expect([BigInt(slot ?? 0), await node?.result('eth_getCode', [contract, 'latest'])]).toEqual([42n, '0x60'])
})

test('error: a file that is no state ends the start and stays', async () => {
  const file = join(scratchFolder(), 'state.json')
  const begin = ['start', '--http-port', '0', '--quiet']
  for (const text of ['', '{"alloc":{}}', ofAnvil.subarray(0, 900).toString()]) {
    writeFileSync(file, text)
    const { code, errors } = await runCommand([...begin, '--state', file])
    expect([code, errors]).toEqual([1, expect.stringContaining(`Invalid state file ${file}: expected a JSON object`)])
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
  const missing = await runCommand([...begin, '--load-state', join(scratchFolder(), 'none.json')])
  expect([missing.code, missing.errors]).toEqual([2, expect.stringContaining('--load-state: there is no file')])
})

test('behavior: anvil_rollback and anvil_reorg', async () => {
  await start()
  const hashAt = async (number: string) =>
    (await node?.result<{ hash: string } | null>('eth_getBlockByNumber', [number, false]))?.hash
  await node?.result('hardhat_mine', ['0x4'])
  const filter = await node?.result<string>('eth_newBlockFilter')
  const before = [await hashAt('0x2'), await hashAt('0x3'), await hashAt('0x4')]
  const transaction = { from: first, to: other, value: '0x5', gas: '0x5208' }
  expect(await node?.result('anvil_reorg', [2, [[transaction, 1]]])).toBe(null)
  const after = [await hashAt('0x2'), await hashAt('0x3'), await hashAt('0x4')]
  expect([after[0], new Set([...before, ...after]).size]).toEqual([before[0], 5])
  expect(await node?.result('eth_getFilterChanges', [filter])).toEqual(after.slice(1))
  expect(await balance(other)).toBe('0x5')
  expect(await node?.result('anvil_rollback')).toBe(null)
  expect(await node?.result('anvil_rollback', ['0x2'])).toBe(null)
  expect([await node?.result('eth_blockNumber'), await balance(other)]).toEqual(['0x1', '0x0'])
  expect((await node?.ask('anvil_rollback', [2]))?.error).toMatchObject({
    code: -32602,
    message: 'Invalid depth: 2, the height of the chain is 1',
  })
})
