import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryBudget, sharedCounters } from '../src/rpc/memoryBudget.ts'
import type { Server } from '../src/server.ts'
import { fakeServer } from './fakeServer.ts'

const mega = 2 ** 20
const version = '{"jsonrpc":"2.0","id":1,"method":"net_version"}'
const getCode = `{"id":1,"method":"eth_getCode","params":["0x${'00'.repeat(20)}","latest"]}`

let server: Server
let memory: MemoryBudget
let port: number
const sockets: Socket[] = []

beforeEach(async () => {
  // With one thread, a client may use half of the limit.
  memory = new MemoryBudget(sharedCounters(1), 0, 16 * mega)
  server = fakeServer({ rpc: { maxResponseBytes: 0, maxBatchRequests: 1000 } }, { memory })
  port = await server.listen(0)
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop(0)
})

/** Sends bytes from an address of this machine; `text` is the received answer. */
function send(bytes: string | Buffer, localAddress = '127.0.0.1'): { text: string; readonly socket: Socket } {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const line = { text: '', socket }
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.on('data', (piece) => {
    line.text += piece.toString('latin1')
  })
  socket.write(bytes)
  return line
}

function request(body: string, length = body.length): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

const padded = (length: number) => `${' '.repeat(length - version.length)}${version}`

test('error: unfinished bodies of one client are bounded, others are served, and all is given back', async () => {
  const unfinished = Array.from({ length: 20 }, () => send(request(' '.repeat(mega), mega + 1)))
  const refused = () => unfinished.filter(({ text }) => text.startsWith('HTTP/1.1 503 ')).length
  await expect.poll(refused, { timeout: 5000 }).toBeGreaterThanOrEqual(12)
  expect(memory.bytes).toBeLessThanOrEqual(8 * mega)
  expect(unfinished.length - refused()).toBeGreaterThanOrEqual(4)
  const other = send(request(padded(mega)), '127.0.0.2')
  await expect.poll(() => other.text, { timeout: 5000 }).toContain('"result":"33"')
  for (const { socket } of unfinished) socket.destroy()
  await expect.poll(() => memory.bytes).toBe(0)
  const again = send(request(padded(mega)))
  await expect.poll(() => again.text, { timeout: 5000 }).toContain('"result":"33"')
  expect(memory.bytes).toBe(0)
})

test('behavior: a body that drips in is answered, and its bytes are given back', async () => {
  const body = padded(3000)
  const line = send(request('', body.length))
  line.socket.setNoDelay(true)
  for (let at = 0; at < body.length; at += 100) {
    line.socket.write(body.slice(at, at + 100))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await expect.poll(() => line.text).toContain('"result":"33"')
  expect(memory.bytes).toBe(0)
})

test('error: unread large answers are bounded for each client', async () => {
  // Approximately 6 MB each: more than the socket buffers of the system take.
  const large = request(`[${Array(30).fill(getCode).join()}]`)
  const ask = () => {
    const line = send('')
    line.socket.pause()
    line.socket.write(large)
    return line
  }
  const unread = [ask()]
  await expect.poll(() => memory.bytes, { timeout: 5000 }).toBeGreaterThan(5 * mega)
  for (let index = 0; index < 5; index++) unread.push(ask())
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(memory.bytes).toBeLessThanOrEqual(8 * mega)
  for (const { socket } of unread) socket.resume()
  await expect.poll(() => unread.filter(({ text }) => text.includes('-32005')).length, { timeout: 5000 }).toBe(5)
  await expect.poll(() => memory.bytes, { timeout: 5000 }).toBe(0)
})
