// eth_sendRawTransaction from many senders. Transfers are signed before the measurement. If the target can turn off instant
// mining only the pool is measured, otherwise also mining.
import { call } from '../chain/client.mjs'
import { signed } from '../chain/prepare.mjs'
import { drive, Plan } from './driver.mjs'
import { bodyOf, learn } from './learn.mjs'

const method = 'eth_sendRawTransaction'
/**
 * Transactions of one sender in a round. Rootstock's pools drop transactions after ten blocks, and ten blocks hold fewer than
 * 3,000.
 */
const perSender = 2

export const sending = { name: method, enter }

async function enter({ target: { url }, chain }, pace) {
  const transfer = (account) =>
    signed(chain, account, { to: chain.contract, data: '0x70a08231'.padEnd(74, '0'), gas: 40_000n })
  const isHeld = chain.order === 'held'
  const isWaiting = isHeld || chain.order === 'waiting'
  if (isHeld) await call(url, 'evm_setAutomine', [false])
  const sample = transfer(chain.holders[0])
  const request = { method, params: [sample.raw], check: (hash) => hash === sample.hash }
  const [{ path, answer }] = await learn(url, [request])
  const entryOf = ({ raw, hash }) => ({
    path,
    request: bodyOf(method, [raw]),
    answer: answer.replace(sample.hash, hash),
  })

  async function measure() {
    const senders = []
    for (let turn = 0; turn < perSender; turn++) senders.push(...chain.holders)
    const plan = new Plan(senders.map((sender) => entryOf(transfer(sender))))
    try {
      const measured = await drive(url, plan, { connections: pace.connections, timeMs: 4 * pace.timeMs, isOnce: true })
      // Unsent transactions are sent in the next round.
      for (const sender of senders.slice(measured.right + measured.wrong + measured.lost)) sender.nonce--
      return measured
    } finally {
      plan.remove()
      if (isWaiting) await empty(url)
    }
  }
  const end = async () => {
    if (isHeld) await call(url, 'evm_setAutomine', [true])
  }
  return { warmUp: measure, measure, end }
}

/** Mines until the pool is empty. */
async function empty(url) {
  for (;;) {
    await call(url, 'evm_mine')
    const { pending } = await call(url, 'txpool_status')
    if (BigInt(pending) === 0n) return
  }
}
