import { type Hex, keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

/** Time limit for a busy machine. */
const patient = '[rpc]\ntimeoutMs = 60000\n'
/** Nonces of an account in the pool. */
const slots = 16
const keys = ['cow', 'cow1', 'cow2', 'cow3', 'cow4', 'cow5', 'cow6', 'cow7', 'cow8'].map((text) =>
  keccak256(stringToHex(text)),
)
/** A call that runs some tenths of a second. */
const longCall = [{ data: '0x5b600056', gas: '0x5f5e100' }, 'latest']

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start([], `${patient}maxWaiting = 1\ncallGasCap = 9000000000\n`)
})
afterAll(() => node.stop())

function signed(key: Hex, nonce: number, chainId = 33): Promise<Hex> {
  const to = '0x00000000000000000000000000000000000000aa'
  return privateKeyToAccount(key).signTransaction({
    type: 'legacy',
    chainId,
    nonce,
    to,
    gas: 21_000n,
    gasPrice: 60_000_000n,
  })
}

test('behavior: concurrent transactions are answered one by one, invalid ones as if sent alone', async () => {
  await node.result('evm_setAutomine', [false])
  const good: Hex[] = []
  for (const key of keys) for (let nonce = 0; nonce < slots; nonce++) good.push(await signed(key, nonce))
  const bad: [text: unknown, code: number][] = []
  for (let nonce = 0; nonce < 20; nonce++) {
    const raw = await signed(keys[0] as Hex, nonce, 31)
    bad.push([raw, -32602], ['0x', -32602], [raw.slice(0, -2), -32602], [`${raw}zz`, -32602])
    bad.push([await signed(keys[0] as Hex, slots + nonce), -32010])
  }
  const sent = [...good.map((raw): [unknown, Hex] => [raw, keccak256(raw)]), ...bad]
  sent.sort(() => Math.random() - 0.5)
  const calls = Array.from({ length: 10 }, () => node.ask('eth_call', longCall))
  const answers = await Promise.all(
    sent.map(async ([raw, expected]) => {
      for (;;) {
        const { result, error } = await node.ask('eth_sendRawTransaction', [raw])
        // The queue is short and also holds calls: a request that finds it full is sent again.
        if (error?.code !== -32005) return [error?.code ?? result, expected]
      }
    }),
  )
  await Promise.all(calls)
  for (const [answer, expected] of answers) expect(answer).toBe(expected)
  expect(await node.result('txpool_status')).toMatchObject({ pending: good.length, queued: 0 })
  await node.result('evm_mine')
  expect(await node.result('eth_getBlockTransactionCountByNumber', ['latest'])).toBe(
    // And the REMASC transaction.
    `0x${(good.length + 1).toString(16)}`,
  )
})

describe('one account', () => {
  let own: NodeProcess
  let from: string
  const receiver = '0x00000000000000000000000000000000000000bb'
  const ask = (method: string, ...params: unknown[]) => own.ask(method, params)
  const sendWith = (gas: number) => ask('eth_sendTransaction', { from, to: receiver, gas: `0x${gas.toString(16)}` })
  beforeEach(async () => {
    own = await NodeProcess.start(['--workers', '2'], patient)
    from = (await own.result<string[]>('eth_accounts'))[0] as string
  })
  afterEach(() => own.stop())

  /** Sends eight transactions at a time and returns the hashes. */
  async function sendAtOnce(count: number): Promise<Set<string>> {
    const hashes = new Set<string>()
    const eighth = async () => {
      for (let sent = 0; sent < count / 8; sent++) {
        hashes.add(await own.result<string>('eth_sendTransaction', [{ from, to: receiver, value: '0x1' }]))
      }
    }
    await Promise.all(Array.from({ length: 8 }, eighth))
    return hashes
  }

  test('behavior: concurrent transactions get different nonces, also during mining', async () => {
    expect((await sendAtOnce(400)).size).toBe(400)
    expect(await own.result('eth_blockNumber')).toBe('0x190')
    await own.result('evm_setIntervalMining', [1])
    expect((await sendAtOnce(400)).size).toBe(400)
    await own.result('evm_setIntervalMining', [0])
    expect(await own.result('eth_getTransactionCount', [from, 'latest'])).toBe('0x320')
    expect(await own.result('eth_getBalance', [receiver, 'latest'])).toBe('0x320')
  })

  test('behavior: transactions of all kinds wait for a block at the same time', async () => {
    const [key, passphrase] = [keccak256(stringToHex('a key of its own')), 'open']
    from = await own.result<string>('personal_importRawKey', [key, passphrase])
    await own.result('personal_unlockAccount', [from, passphrase, '0x100000'])
    await own.result('hardhat_setBalance', [from, '0x100000'])
    await own.result('evm_setAutomine', [false])
    const transaction = { from, to: receiver, value: '0x1', gasPrice: '0x1' }
    const hashes = await Promise.all([
      ...Array.from({ length: 6 }, () => own.result('eth_sendTransaction', [transaction])),
      ...Array.from({ length: 2 }, () => own.result('personal_sendTransaction', [transaction, passphrase])),
    ])
    await own.result('hardhat_impersonateAccount', [from])
    hashes.push(
      ...(await Promise.all(Array.from({ length: 3 }, () => own.result('eth_sendTransaction', [transaction])))),
    )
    expect(new Set(hashes).size).toBe(11)
    expect(await own.result('txpool_status')).toEqual({ pending: 11, queued: 0 })
    await own.result('evm_mine')
    expect(await own.result('eth_getTransactionCount', [from, 'latest'])).toBe('0xb')
  })

  test('behavior: the gas limit named in a refusal is mined at once, and the account can send again', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const { error } = await sendWith(6_800_001)
      if (error === undefined) continue
      const block = await own.result<{ gasLimit: string }>('eth_getBlockByNumber', ['latest', false])
      const [, most, blockLimit] = /gas limit of (\d+) \(one .* gas limit of (\d+)\)/.exec(error.message) ?? []
      // The limit of the next block, a step below that of the head.
      expect(Number(block.gasLimit) - Number(blockLimit)).toBeLessThan(10_000)
      expect(await sendWith(Number(most))).toHaveProperty('result')
    }
    expect(await own.result('txpool_status')).toEqual({ pending: 0, queued: 0 })
    const estimated = Number(await own.result('eth_estimateGas', [{ from, data: '0x5b600056' }]))
    expect((await sendWith(estimated)).error).toBeUndefined()
    expect((await sendWith(21_000)).error).toBeUndefined()
  })

  test('behavior: blocks are mined until a transaction finds room behind those that wait', async () => {
    const loop = { from, data: '0x5b600056', gas: '0x5b8d80' }
    await own.result('evm_setAutomine', [false])
    for (let waiting = 0; waiting < 3; waiting++)
      expect(await ask('eth_sendTransaction', loop)).toHaveProperty('result')
    await own.result('evm_mine')
    expect(await own.result('txpool_status')).toEqual({ pending: 2, queued: 0 })
    await own.result('evm_setAutomine', [true])
    expect(await sendWith(6_000_000)).toHaveProperty('result')
    expect(await own.result('txpool_status')).toEqual({ pending: 0, queued: 0 })
    expect(await own.result('eth_getTransactionCount', [from, 'latest'])).toBe('0x4')
  })

  test('behavior: each waiting transaction has a reason, in the answer, the pool and the log', async () => {
    const gap = await ask('eth_sendTransaction', { from, to: receiver, nonce: '0x2' })
    const reason = 'its nonce is 2, and a transaction with nonce 0 is missing'
    expect(gap.error).toEqual({
      code: -32009,
      message: `Unknown error when sending transaction: transaction wasn't mined (it waits: ${reason})`,
    })
    const { queued } = await own.result<{ queued: object }>('txpool_content')
    expect(Object.values(queued)).toEqual([{ 2: [expect.objectContaining({ reason })] }])
    await expect.poll(() => own.errors).toContain(reason)
    await own.result('evm_setAutomine', [false])
    await ask('eth_sendTransaction', { from, to: receiver, value: '0x5' })
    const { pending } = await own.result<{ pending: object }>('txpool_content')
    expect(Object.values(pending)).toEqual([{ 0: [expect.objectContaining({ reason: 'it is in the next block' })] }])
    await own.result('hardhat_setBalance', [from, '0x1'])
    await own.result('evm_mine')
    const poor = 'the balance of its sender does not pay for value and gas'
    expect(JSON.stringify(await own.result('txpool_content'))).toContain(poor)
    await expect.poll(() => own.errors).toContain(poor)
  })
})
