import { type Hex, keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

/** Nonces of an account that the pool keeps. */
const slots = 16
const keys = ['cow', 'cow1', 'cow2', 'cow3', 'cow4', 'cow5', 'cow6', 'cow7', 'cow8'].map((text) =>
  keccak256(stringToHex(text)),
)
/** Some tenths of a second. */
const longCall = [{ data: '0x5b600056', gas: '0x5f5e100' }, 'latest']

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start([], '[rpc]\nmaxWaiting = 1\ncallGasCap = 9000000000\n')
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

test('behavior: what is sent at the same time is answered one by one, the bad as if it had come alone', async () => {
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
        // The line is short, and calls stand in it, too: who finds it full comes again.
        if (error?.code !== -32005) return [error?.code ?? result, expected]
      }
    }),
  )
  await Promise.all(calls)
  for (const [answer, expected] of answers) expect(answer).toBe(expected)
  expect(await node.result('txpool_status')).toMatchObject({ pending: good.length, queued: 0 })
  await node.result('evm_mine')
  expect(await node.result('eth_getBlockTransactionCountByNumber', ['latest'])).toBe(
    // And the one that distributes the fees.
    `0x${(good.length + 1).toString(16)}`,
  )
})
