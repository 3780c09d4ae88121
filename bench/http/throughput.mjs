// Requests over real sockets against a node in a process of its own: throughput and how long the slow ones take.
import { connect } from 'node:net'
import { startProcess } from '../nodeProcess.mjs'

const seconds = 3
const connections = 32
const account = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const scenarios = [
  ['eth_blockNumber', []],
  ['eth_getBalance', [account, 'latest']],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_call', [{ to: '0x0000000000000000000000000000000000000004', data: `0x${'ab'.repeat(32)}` }, 'latest']],
]

export async function run(report) {
  const { child, url } = await startProcess('--ephemeral')
  const port = Number(new URL(url).port)
  try {
    for (const [method, params] of scenarios) {
      const { total, errors, times } = await load(port, method, params)
      if (errors > 0) throw new Error(`${method}: ${errors} of ${total} answers were errors`)
      times.sort((a, b) => a - b)
      report({ name: method, value: total / seconds, unit: 'requests/s' })
      for (const share of [0.5, 0.99]) {
        const value = times[Math.floor(times.length * share)] * 1000
        report({ name: `${method}, ${share * 100}% within`, value, unit: 'µs' })
      }
    }
  } finally {
    child.kill('SIGINT')
  }
}

async function load(port, method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const request = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const totals = { total: 0, errors: 0, times: [] }
  const end = performance.now() + seconds * 1000
  await Promise.all(Array.from({ length: connections }, () => drive(port, request, end, totals)))
  return totals
}

/** One connection: the next request goes out when the answer to the one before is complete. */
function drive(port, request, end, totals) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sent = 0
    let text = ''
    const next = () => {
      text = ''
      sent = performance.now()
      socket.write(request)
    }
    socket.on('connect', next)
    socket.on('error', reject)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      if (head === -1) return
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (text.length < head + 4 + length) return
      const now = performance.now()
      totals.total++
      totals.times.push(now - sent)
      if (text.includes('"error":')) totals.errors++
      if (now < end) next()
      else socket.end(resolve)
    })
  })
}
