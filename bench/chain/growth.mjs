// Ways to make blocks on different kinds of nodes.
import { AnswerError, call, callAll, isServed, until } from './client.mjs'
import { quantity, signed } from './prepare.mjs'
import { Account } from './transaction.mjs'

/** Maximum time to make a long chain. */
const budgetMs = 180_000
/** Blocks mined by one call, within the time limit of a request. */
const chunk = 200
/** A node that has not mined the first transaction after this time does not mine by itself. */
const firstBlockMs = 3000

/**
 * Capabilities of a target. `order` is the way to put many transactions into one block: `held` (instant mining can be turned
 * off), `waiting` (the target mines on request only), `last` (transactions wait for the first nonce, which is sent last), or
 * `none`.
 */
export async function growth(chain, funder) {
  const { url } = chain
  const filler = new Account('filler')
  const grant = { from: funder, to: filler.address, value: quantity(10n ** 19n), gas: quantity(21_000n) }
  await call(url, 'eth_sendTransaction', [{ ...grant, gasPrice: quantity(chain.gasPrice) }])
  const order = await orderOf(chain, filler)
  const mine = await miner(chain, filler)
  return { order, add: (count) => mine(count), longest: (most) => longest(mine, most) }
}

/** Resolves with the order when the filler has received its grant. */
async function orderOf(chain, filler) {
  const { url } = chain
  const began = performance.now()
  let isWaiting = false
  await until(async () => {
    if (BigInt(await call(url, 'eth_getBalance', [filler.address, 'latest'])) > 0n) return true
    if (!isWaiting && performance.now() - began > firstBlockMs) isWaiting = await isServed(url, 'evm_mine')
    return undefined
  }, 'a first transaction')
  if (isWaiting) return 'waiting'
  if (await isServed(url, 'evm_setAutomine', [true])) return 'held'
  return (await waitsForGaps(chain, filler)) ? 'last' : 'none'
}

/** Whether the pool keeps a transaction with a nonce gap. The nonce of the probe is never reached. */
async function waitsForGaps(chain, filler) {
  const { raw } = signed(chain, { ...filler, nonce: 1_000_049 }, { to: filler.address, gas: 21_000n })
  try {
    await call(chain.url, 'eth_sendRawTransaction', [raw])
    return true
  } catch (error) {
    if (error instanceof AnswerError) return false
    throw error
  }
}

async function miner(chain, filler) {
  const { url } = chain
  if (await isServed(url, 'hardhat_mine', ['0x1'])) {
    return async (count) => {
      for (let left = count; left > 0; left -= chunk)
        await call(url, 'hardhat_mine', [quantity(BigInt(Math.min(left, chunk)))])
    }
  }
  if (await isServed(url, 'evm_mine')) {
    return (count) =>
      callAll(
        url,
        Array.from({ length: count }, () => ['evm_mine', []]),
        10,
      )
  }
  return async (count) => {
    for (let left = count; left > 0; left--) {
      const before = await call(url, 'eth_blockNumber')
      const { raw } = signed(chain, filler, { to: filler.address, gas: 21_000n })
      await call(url, 'eth_sendRawTransaction', [raw])
      await until(async () => ((await call(url, 'eth_blockNumber')) === before ? undefined : true), 'a block')
    }
  }
}

/** Number of blocks that can be made in the maximum time, at most `most`. */
async function longest(mine, most) {
  const sample = 200
  const began = performance.now()
  await mine(sample)
  return Math.min(most, (budgetMs / (performance.now() - began)) * sample)
}
