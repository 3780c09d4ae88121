// WebSocket: requests from 32 callers, and blocks that 1,000 subscribers are told of.
import { call, isServed } from '../chain/client.mjs'
import { signed } from '../chain/prepare.mjs'
import { NotServed } from './learn.mjs'
import { Connection } from './socket.mjs'

const callers = 32
const subscribers = 1000
const patienceMs = 10_000
const blocks = { thorough: 10, quick: 3 }

export const socketRequests = { name: 'WebSocket, eth_blockNumber', enter: enterRequests }
export const fanOut = { name: 'WebSocket, heads for 1,000 subscribers', unit: 'messages/s', enter: enterFanOut }

async function enterRequests({ target }, pace) {
  const port = portOf(target)
  const head = await call(target.url, 'eth_blockNumber')
  const request = (id) => `{"jsonrpc":"2.0","id":${id},"method":"eth_blockNumber","params":[]}`
  async function measure() {
    const began = performance.now()
    const end = began + pace.timeMs
    const tally = new Tally()
    await Promise.all(
      Array.from({ length: callers }, async (_none, caller) => {
        const connection = await Connection.open(port)
        let id = caller * 1_000_000
        let sent = 0
        await new Promise((resolve) => {
          const next = () => {
            id++
            sent = performance.now()
            connection.send(request(id))
          }
          connection.onEnd = () => {
            tally.add(false, 0, 'the server closed the connection')
            resolve()
          }
          connection.onMessage = (text) => {
            const { id: answered, result } = JSON.parse(text)
            const isRight = answered === id && result === head
            tally.add(isRight, performance.now() - sent, text)
            if (performance.now() < end) next()
            else resolve()
          }
          next()
        })
        connection.close()
      }),
    )
    return tally.finish(began)
  }
  return { warmUp: () => undefined, measure, end: () => undefined }
}

async function enterFanOut({ target, chain }, pace) {
  const port = portOf(target)
  const trigger = await triggerOf(target.url, chain)
  async function measure() {
    const connections = await Promise.all(Array.from({ length: subscribers }, () => Connection.open(port)))
    const tally = new Tally()
    try {
      const ids = await Promise.all(connections.map((connection) => connection.ask('eth_subscribe', ['newHeads'])))
      const began = performance.now()
      for (let block = 0; block < blocks[pace.name]; block++) await tellAll(connections, ids, trigger, tally)
      return tally.finish(began)
    } finally {
      for (const connection of connections) connection.close()
    }
  }
  return { warmUp: () => undefined, measure, end: () => undefined }
}

/** From the request for a block until the last subscriber has its head: each has to get one, and all the same. */
async function tellAll(connections, ids, trigger, tally) {
  const began = performance.now()
  let missing = connections.length
  let hash
  const all = new Promise((resolve) => {
    const late = setTimeout(() => {
      for (; missing > 0; missing--) tally.add(false, 0, 'a subscriber was not told of a block')
      resolve()
    }, patienceMs)
    for (const [index, connection] of connections.entries()) {
      connection.onMessage = (text) => {
        const { subscription, result } = JSON.parse(text).params ?? {}
        hash ??= result?.hash
        tally.add(subscription === ids[index] && result?.hash === hash, performance.now() - began, text)
        missing--
        if (missing > 0) return
        clearTimeout(late)
        resolve()
      }
    }
  })
  await Promise.all([trigger(), all])
}

async function triggerOf(url, chain) {
  if (await isServed(url, 'evm_mine')) return () => call(url, 'evm_mine')
  const account = chain.holders.at(-1)
  const transfer = { to: account.address, gas: 21_000n }
  return () => call(url, 'eth_sendRawTransaction', [signed(chain, account, transfer).raw])
}

function portOf({ webSocketUrl }) {
  if (webSocketUrl === undefined) throw new NotServed('no WebSocket address is known')
  return Number(new URL(webSocketUrl).port)
}

/** Right and wrong messages and their times, in the form of the load generator. */
class Tally {
  #times = []
  #wrong = 0
  #fault = null

  add(isRight, timeMs, text) {
    if (isRight) this.#times.push(timeMs)
    else {
      this.#wrong++
      this.#fault ??= text.slice(0, 200)
    }
  }

  finish(began) {
    const seconds = (performance.now() - began) / 1000
    const sorted = this.#times.sort((a, b) => a - b)
    const within = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 1000
    return {
      right: sorted.length,
      wrong: this.#wrong,
      lost: 0,
      seconds,
      p50: within(0.5),
      p99: within(0.99),
      fault: this.#fault,
    }
  }
}
