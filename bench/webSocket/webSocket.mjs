// Requests over WebSocket, and blocks that a thousand subscribers are told of.
import { startProcess } from '../nodeProcess.mjs'
import { Connection } from './connection.mjs'

const seconds = 3
const callers = 32
const subscribers = 1000
const blocks = 50

export async function run(report) {
  const { child, url } = await startProcess('--ephemeral')
  const port = Number(new URL(url).port)
  try {
    await requests(port, report)
    await heads(port, report)
  } finally {
    child.kill('SIGINT')
  }
}

async function requests(port, report) {
  const request = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
  const end = performance.now() + seconds * 1000
  let total = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      const connection = await Connection.open(port)
      await new Promise((resolve) => {
        connection.onMessage = () => {
          total++
          if (performance.now() < end) connection.send(request)
          else resolve()
        }
        connection.send(request)
      })
      connection.close()
    }),
  )
  report({ name: 'eth_blockNumber', value: total / seconds, unit: 'requests/s' })
}

/** From the request to mine a block until the last subscriber has its head. */
async function heads(port, report) {
  const connections = await Promise.all(Array.from({ length: subscribers }, () => Connection.open(port)))
  await Promise.all(connections.map((connection) => ask(connection, 'eth_subscribe', ['newHeads'])))
  let missing = 0
  let onAll = () => undefined
  for (const connection of connections) {
    connection.onMessage = () => {
      missing--
      if (missing === 0) onAll()
    }
  }
  const miner = await Connection.open(port)
  const times = []
  for (let block = 0; block < blocks; block++) {
    missing = subscribers
    const all = new Promise((resolve) => {
      onAll = resolve
    })
    const began = performance.now()
    await Promise.all([ask(miner, 'evm_mine', []), all])
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const unit = 'µs'
  report({ name: `a block told to ${subscribers} subscribers`, value: times[Math.floor(blocks / 2)] * 1000, unit })
  report({ name: `the slowest of ${blocks} blocks`, value: times[blocks - 1] * 1000, unit })
  for (const connection of [...connections, miner]) connection.close()
}

function ask(connection, method, params) {
  return new Promise((resolve, reject) => {
    connection.onMessage = (text) => {
      if (text.includes('"error":')) reject(new Error(text))
      else resolve()
    }
    connection.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  })
}
