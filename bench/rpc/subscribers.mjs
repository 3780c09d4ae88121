// WebSocket: requests, and heads of blocks for 1,000 subscribers.
import { call, isServed } from '../chain/client.mjs'
import { signed } from '../chain/prepare.mjs'
import { drive, driveSubscribers, Plan } from './driver.mjs'
import { learn, NotServed } from './learn.mjs'
import { reads } from './reads.mjs'

const subscribers = 1000
const blocks = { thorough: 10, quick: 3, profile: 200 }
const subscription = { method: 'eth_subscribe', params: ['newHeads'], check: (id) => /^0x[0-9a-f]+$/.test(id) }

export const socketRequests = { name: 'WebSocket, eth_blockNumber', enter: enterRequests }
export const fanOut = { name: 'WebSocket, heads for 1,000 subscribers', unit: 'messages/s', enter: enterFanOut }

async function enterRequests({ target, chain }, { timeMs, connections }) {
  const url = webSocketOf(target)
  const { requests } = reads.find(({ name }) => name === 'eth_blockNumber')
  const plan = new Plan(await learn(url, requests(chain)))
  const measure = () => drive(url, plan, { timeMs, connections })
  return { warmUp: measure, measure, end: () => plan.remove() }
}

/** Time from the trigger of a block until the last subscriber has its head. All subscribers must receive the same head. */
async function enterFanOut({ target, chain }, pace) {
  const url = webSocketOf(target)
  await learn(url, [subscription])
  const trigger = await triggerOf(target.url, chain)
  const measure = () => driveSubscribers(url, trigger, { connections: subscribers, blocks: blocks[pace.name] })
  return { warmUp: measure, measure, end: () => undefined }
}

async function triggerOf(url, chain) {
  if (await isServed(url, 'evm_mine')) return () => call(url, 'evm_mine')
  const account = chain.holders.at(-1)
  const transfer = { to: account.address, gas: 21_000n }
  return () => call(url, 'eth_sendRawTransaction', [signed(chain, account, transfer).raw])
}

function webSocketOf({ webSocketUrl }) {
  if (!webSocketUrl?.startsWith('ws:')) throw new NotServed('no WebSocket address without TLS is known')
  return webSocketUrl
}
