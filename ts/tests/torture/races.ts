import { join } from 'node:path'
import { expect } from 'vitest'
import { Random } from '../../src/compare/random.ts'
import { NodeProcess, runCommand } from '../node.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// Many clients at once with all methods that move the head of a development node. Invariants: no answer is an internal error; a
// transaction sent without a nonce is never rejected for its nonce and never replaces another; every transaction in the pool
// has a reason to wait; and the final chain verifies, with a pool that matches its accounts.

const receiver = '0x00000000000000000000000000000000000000fe'
const impersonated = '0x00000000000000000000000000000000000000aa'
const contract = '0x00000000000000000000000000000000000000bb'
/** Init code that reverts. */
const reverting = '0x60006000fd'
const clients = 8
const leastMs = 5_000

export const torture: TortureCase = {
  prepare: () => ({ round }),
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

interface Pool {
  readonly pending: PoolTree
  readonly queued: PoolTree
}
type PoolTree = Readonly<Record<string, Readonly<Record<string, readonly { readonly reason?: string }[]>>>>

/** One client. Its requests depend only on its own random numbers, not on the speed of other clients. */
interface Client {
  readonly node: NodeProcess
  readonly accounts: readonly string[]
  readonly random: Random
  /** The last transaction of this client. */
  sent: string
}

async function round({ random, folder, timeMs }: Round): Promise<void> {
  const data = join(folder, 'data')
  // A busy machine may take long.
  const node = await NodeProcess.start(['--data-dir', data, '--workers', '2'], '[rpc]\ntimeoutMs = 60000\n')
  let head: number
  try {
    // Without the account of the coinbase, which has no balance.
    const accounts = (await node.result<string[]>('eth_accounts')).slice(0, 10)
    await sendAtOnce(node, accounts[0] as string)
    await node.result('hardhat_impersonateAccount', [impersonated])
    // Without a first template, mnr_getWork is not available while automatic mining is off.
    await node.result('mnr_getWork')
    const end = Date.now() + Math.max(timeMs, leastMs)
    const seeds = Array.from({ length: clients }, () => random.next())
    await Promise.all(
      seeds.map(async (seed) => {
        const client = { node, accounts, random: new Random(seed), sent: `0x${'0'.repeat(64)}` }
        while (Date.now() < end) await client.random.pick(steps)(client)
      }),
    )
    await expectOrder(node, accounts)
    head = Number(await node.result('eth_blockNumber'))
    expect(node.errors).not.toContain('internal error')
  } finally {
    await node.stop()
  }
  const verified = await runCommand(['verify', '--from', '0', '--to', String(head), '--state', '--data-dir', data])
  expect([verified.code, verified.errors]).toEqual([0, ''])
}

/** As many sends at once as clients, from one account: each gets its own nonce and its own block. */
async function sendAtOnce(node: NodeProcess, from: string): Promise<void> {
  const count = 25 * clients
  const hashes = new Set<string>()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let sent = 0; sent < count / clients; sent++) {
        hashes.add(await node.result<string>('eth_sendTransaction', [{ from, to: receiver, value: '0x1' }]))
      }
    }),
  )
  expect(hashes.size).toBe(count)
  expect(Number(await node.result('eth_getTransactionCount', [from, 'latest']))).toBe(count)
  expect(Number(await node.result('eth_getBalance', [receiver, 'latest']))).toBe(count)
  expect(Number(await node.result('eth_blockNumber'))).toBe(count)
}

/** Refusals that are valid at any time. */
const fullAccount = /nonce too high/
const poor = /insufficient funds/
/** The transaction stays in the pool with a reason. */
const waits = /wasn't mined \((it waits: .+|no block can hold it.*)\)/
/** The block was deleted between two reads. */
const notThere = /not found|has just been deleted/
/** The header of the block does not commit to state that was set directly. */
const changedByHand = /changed by hand/
const pastTime = /^Invalid timestamp/

/** Sends a request and accepts only the expected refusals. */
async function ask(
  client: Client,
  method: string,
  params: unknown[],
  refusals: readonly RegExp[] = [],
): Promise<Answer> {
  const answer: Answer = await client.node.ask(method, params)
  const { error } = answer
  if (error !== undefined && !refusals.some((refusal) => refusal.test(error.message))) {
    const log = error.code === -32603 ? client.node.errors.slice(-2000) : ''
    throw new Error(`${method} ${JSON.stringify(params)}: ${error.code} ${error.message}\n${log}`)
  }
  return answer
}

async function send(client: Client, transaction: object, refusals: readonly RegExp[] = []): Promise<void> {
  const known = [fullAccount, poor, waits, ...refusals]
  const { result } = await ask(client, 'eth_sendTransaction', [transaction], known)
  if (typeof result === 'string') client.sent = result
}

/** Returns a random QUANTITY below `bound`. */
function some({ random }: Client, bound: number): string {
  return `0x${random.below(bound).toString(16)}`
}

const transfer = (client: Client) =>
  send(client, { from: client.random.pick(client.accounts), to: receiver, value: '0x1', gas: '0x5208' })

const steps: readonly ((client: Client) => Promise<unknown>)[] = [
  transfer,
  transfer,
  transfer,
  // Close to the gas limit of a transaction, which changes from block to block.
  (client) =>
    send(
      client,
      { from: client.accounts[1], to: receiver, gas: `0x${(6_799_999 + client.random.below(4)).toString(16)}` },
      [/gas limit of \d+ is higher/],
    ),
  (client) =>
    send(client, { from: impersonated, to: receiver, value: some(client, 9), gas: '0x5208' }, [/sender account/]),
  async (client) => {
    const { result } = await ask(
      client,
      'eth_sendTransaction',
      [{ from: client.accounts[2], data: reverting, gas: '0x186a0' }],
      [/revert/, fullAccount, poor, waits],
    )
    // Without instant mining the transaction is only pooled. With it, the answer must not be a success.
    if (result !== undefined) expect(await isMinedWell(client, String(result))).toBe(false)
  },
  (client) => ask(client, 'evm_mine', []),
  (client) => ask(client, 'hardhat_mine', [some(client, 4), some(client, 20)]),
  async (client) => {
    const head = (await client.node.result('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    await ask(client, 'evm_mine', [Number(head.timestamp) + 1 + client.random.below(3)], [pastTime])
  },
  (client) => ask(client, 'evm_increaseTime', [client.random.below(3)]),
  async (client) => {
    const head = (await client.node.result('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    await ask(client, 'evm_setNextBlockTimestamp', [Number(head.timestamp) + 2], [pastTime])
  },
  (client) => ask(client, 'evm_snapshot', []),
  (client) => ask(client, 'evm_revert', [some(client, 5)]),
  (client) => ask(client, 'evm_revert', [some(client, 5)]),
  (client) => (client.random.below(5) === 0 ? ask(client, 'evm_reset', []) : ask(client, 'evm_snapshot', [])),
  (client) => ask(client, 'hardhat_setBalance', [impersonated, some(client, 1_000)]),
  (client) =>
    ask(client, 'hardhat_setCode', [contract, client.random.pick(['0x', '0x6000', '0x60055460005260206000f3'])]),
  (client) => ask(client, 'hardhat_setStorageAt', [contract, some(client, 8), `0x${'0'.repeat(63)}1`]),
  (client) => ask(client, 'hardhat_setNonce', [client.accounts[3], some(client, 6)]),
  (client) => ask(client, 'hardhat_dropTransaction', [client.sent]),
  (client) => ask(client, 'evm_setAutomine', [client.random.below(4) > 0]),
  (client) => ask(client, client.random.below(3) > 0 ? 'evm_startMining' : 'evm_stopMining', []),
  (client) => ask(client, 'evm_setIntervalMining', [client.random.below(3) > 0 ? 0 : 5 + client.random.below(20)]),
  (client) => ask(client, 'eth_call', [{ to: contract }, client.random.pick(['latest', 'pending'])]),
  (client) => ask(client, 'eth_getBalance', [receiver, client.random.pick(['latest', 'pending'])]),
  (client) => ask(client, 'eth_getTransactionCount', [client.random.pick(client.accounts), 'pending']),
  (client) => ask(client, 'eth_estimateGas', [{ from: client.accounts[0], to: receiver, value: '0x1' }]),
  (client) => ask(client, 'eth_getTransactionReceipt', [client.sent]),
  (client) => ask(client, 'eth_getTransactionByHash', [client.sent]),
  (client) => ask(client, 'eth_getBlockByNumber', [client.random.pick(['latest', '0x1', '0x5']), true]),
  (client) => ask(client, 'eth_getBlockReceipts', [client.random.pick(['latest', '0x2'])], [notThere]),
  (client) => ask(client, 'eth_getProof', [contract, ['0x1'], 'latest'], [changedByHand]),
  (client) => ask(client, 'eth_getLogs', [{ fromBlock: '0x0' }]),
  (client) => ask(client, 'eth_feeHistory', ['0x5', 'latest', []]),
  (client) => ask(client, 'debug_traceTransaction', [client.sent], [notThere]),
  (client) => ask(client, 'trace_block', ['latest'], [notThere]),
  (client) => ask(client, 'eth_simulateV1', [{ blockStateCalls: [{ calls: [{ to: contract }] }] }, 'latest']),
  (client) => ask(client, 'mnr_getWork', []),
  async (client) => {
    const { pending, queued } = (await ask(client, 'txpool_content', [])).result as Pool
    for (const transactions of [pending, queued]
      .flatMap((tree) => Object.values(tree))
      .flatMap(Object.values)
      .flat()) {
      expect((transactions as { reason?: string }).reason).toMatch(/./)
    }
  },
]

/** Returns whether a transaction is in a block and succeeded. */
async function isMinedWell({ node }: Client, hash: string): Promise<boolean> {
  const receipt = await node.result<{ status: string } | null>('eth_getTransactionReceipt', [hash])
  return receipt?.status === '0x1'
}

/** Checks invariants of the final state. */
async function expectOrder(node: NodeProcess, accounts: readonly string[]): Promise<void> {
  await node.result('evm_setIntervalMining', [0])
  await node.result('evm_setAutomine', [true])
  await node.result('evm_mine')
  const { pending } = await node.result<Pool>('txpool_content')
  for (const account of accounts) {
    const [mined, next] = await Promise.all(
      ['latest', 'pending'].map(async (block) =>
        Number(await node.result('eth_getTransactionCount', [account, block])),
      ),
    )
    const waiting = Object.keys(pending[account.slice(2)] ?? {}).map(Number)
    expect(waiting).toEqual(waiting.map((_nonce, index) => Number(mined) + index))
    expect(next).toBe(Number(mined) + waiting.length)
  }
  // After that, each account can send again.
  const from = accounts[0] as string
  const hash = await node.result<string>('eth_sendTransaction', [{ from, to: receiver, value: '0x1', gas: '0x5208' }])
  expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
}
