import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryBudget, sharedCounters } from '../src/rpc/memoryBudget.ts'
import type { Server } from '../src/server.ts'
import { fakeAddon } from './fakeAddon.ts'
import { fakeServer } from './fakeServer.ts'
import { Client, shakenHands } from './webSocket.ts'

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

/** Replaces the server by one whose answer to `eth_getCode` has a number of MB. */
async function serveLarge(megabytes: number): Promise<string> {
  await server.stop(0)
  const native = { ...fakeAddon(), ethGetCode: () => Buffer.from(`"0x${'ab'.repeat((megabytes * mega) / 2)}"`) }
  server = fakeServer({ rpc: { maxResponseBytes: 0 } }, { memory, native })
  port = await server.listen(0)
  return `http://127.0.0.1:${port}`
}

/** Counts the bytes that a paused socket receives when it reads again, until it is quiet. */
async function receivedLate(socket: Socket): Promise<number> {
  let bytes = 0
  let last = -1
  socket.removeAllListeners('data')
  socket.on('data', (piece) => {
    bytes += piece.length
  })
  socket.resume()
  while (last < bytes) {
    last = bytes
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  socket.destroy()
  return bytes
}

/** Writes a frame of a client; the mask is zero. */
function frame(opcode: number, text = ''): Buffer {
  const extended = Buffer.alloc(text.length < 126 ? 0 : 2)
  if (extended.length > 0) extended.writeUInt16BE(text.length)
  const first = Buffer.from([0x80 | opcode, 0x80 | (extended.length > 0 ? 126 : text.length)])
  return Buffer.concat([first, extended, Buffer.alloc(4), Buffer.from(text)])
}

test('behavior: large answers over WebSocket are complete at any reading speed', async () => {
  const client = await Client.open(await serveLarge(3))
  const blink = setInterval(() => (client.socket.isPaused ? client.socket.resume() : client.socket.pause()), 20)
  for (const request of [getCode, getCode, version]) client.socket.send(request)
  for (let large = 0; large < 2; large++) expect((await client.next())?.result).toBe(`0x${'ab'.repeat(1.5 * mega)}`)
  expect(await client.next()).toMatchObject({ result: '33' })
  clearInterval(blink)
  client.socket.resume()
  await client.close()
  await expect.poll(() => memory.bytes).toBe(0)
})

test('error: unread answers of all WebSockets of a client are bounded, others are served', async () => {
  const url = await serveLarge(6)
  const lines = await Promise.all(Array.from({ length: 8 }, () => Client.open(url)))
  // The system takes a part of each answer. A closed socket keeps 0.5 MB at most.
  for (const { socket } of lines) {
    socket.pause()
    socket.send(getCode)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(memory.bytes).toBeLessThanOrEqual(12 * mega)
  }
  const other = await Client.open(url, { localAddress: '127.0.0.2' })
  expect(await other.exchange(version)).toMatchObject({ result: '33' })
  await other.close()
  for (const { socket } of lines) socket.resume()
  expect(await lines.at(-1)?.closed).toEqual({ code: 1013, reason: 'Too much waits to be read by all clients' })
  for (const { socket } of lines) socket.terminate()
})

test('error: answers that wait for a client are dropped when it closes without reading them', async () => {
  const { socket } = await shakenHands(await serveLarge(12))
  socket.pause()
  socket.write(frame(1, getCode))
  await expect.poll(() => memory.bytes).toBeGreaterThan(11 * mega)
  socket.write(frame(8))
  await expect.poll(() => memory.bytes).toBeLessThan(mega)
  expect(await receivedLate(socket)).toBeLessThan(10 * mega)
})

test('error: the answers to the pings of a client that does not read are bounded', async () => {
  const { socket } = await shakenHands(`http://127.0.0.1:${port}`)
  socket.pause()
  const pings = Buffer.alloc(131 * 1000, frame(9, 'x'.repeat(125)))
  for (let mebibytes = 0; mebibytes < 40; mebibytes++) {
    for (let part = 0; part < 8; part++) {
      if (!socket.write(pings)) await new Promise((resolve) => socket.once('drain', resolve))
    }
  }
  expect(await receivedLate(socket)).toBeLessThan(20 * mega)
})

test('error: small requests that wait on WebSockets are bounded, a client that waits for none is served', async () => {
  const small = new MemoryBudget(sharedCounters(1), 0, mega)
  let finish: (answer: string) => void = () => undefined
  const call = new Promise<string>((resolve) => {
    finish = resolve
  })
  const other = fakeServer({}, { memory: small, native: { ...fakeAddon(), ethCall: () => call } })
  const url = `http://127.0.0.1:${await other.listen(0)}`
  const clients = await Promise.all([Client.open(url), Client.open(url)])
  const waiting = `{"jsonrpc":"2.0","id":"${'x'.repeat(15_000)}","method":"eth_call","params":[{},"latest"]}`
  const refused: unknown[] = []
  for (const { socket } of clients) {
    socket.on('message', (bytes) => refused.push(JSON.parse(bytes.toString()).error?.message))
    for (let sent = 0; sent < 25; sent++) socket.send(waiting)
  }
  // Half of the limit are 30 requests; the first one of each connection always waits.
  await expect.poll(() => refused.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(19)
  expect(new Set(refused)).toEqual(new Set(['Server overloaded']))
  expect(small.bytes).toBeLessThanOrEqual(mega / 2 + 2 * 17_152)
  const third = await Client.open(url)
  expect(await third.exchange(version)).toMatchObject({ result: '33' })
  finish('"0x"')
  await expect.poll(() => small.bytes).toBe(0)
  await other.stop(0)
})
