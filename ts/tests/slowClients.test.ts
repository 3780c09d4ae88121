import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Server } from '../src/server.ts'
import { fakeServer } from './fakeServer.ts'

const version = '{"jsonrpc":"2.0","id":1,"method":"net_version"}'
const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
const getCode = `{"id":1,"method":"eth_getCode","params":["0x${'00'.repeat(20)}","latest"]}`
/** A batch with an answer of 40 MB, more than the system buffers for a connection. */
const large = `[${Array(200).fill(getCode).join()}]`
const post = (body: string) => `${head}Content-Length: ${body.length}\r\n\r\n${body}`

let server: Server
afterEach(() => server.stop(0))

async function serve(http: object = {}): Promise<number> {
  server = fakeServer({ http, rpc: { maxResponseBytes: 0, maxBatchRequests: 1000 } })
  return server.listen(0)
}

/** A connection and its received text. */
class Line {
  readonly socket: Socket
  readonly closed: Promise<void>
  text = ''
  isClosed = false

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => undefined)
    this.socket.on('data', (bytes) => {
      this.text += bytes.toString('latin1')
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        this.isClosed = true
        resolve()
      })
    })
  }

  get status(): string {
    return this.text.slice('HTTP/1.1 '.length, 12)
  }
}

const isServed = async (port: number) => {
  const line = new Line(port)
  line.socket.write(post(version))
  await expect.poll(() => line.text).toContain('"result":"33"')
  line.socket.destroy()
}

describe.each([
  ['on a private address', {}],
  ['where connections are counted', { maxConnectionsPerIp: 500 }],
])('%s', (_place, settings) => {
  test('error: a body that does not arrive', async () => {
    const port = await serve({ ...settings, bodyMs: 300 })
    const declared = new Line(port)
    declared.socket.write(`${head}Content-Length: 1000\r\n\r\n{`)
    const silent = new Line(port)
    silent.socket.write(`${head}Content-Length: 1000\r\n\r\n`)
    const chunked = new Line(port)
    chunked.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`)
    const drip = setInterval(() => chunked.socket.write('1\r\n \r\n'), 50)
    for (const line of [declared, silent, chunked]) {
      await line.closed
      expect(line.status).toBe('408')
      expect(line.text).toContain('Request body has not arrived within 300 ms')
    }
    clearInterval(drip)
    await isServed(port)
  })

  test('behavior: a body in pieces that arrives in time, and another body after it', async () => {
    const port = await serve({ ...settings, bodyMs: 5000 })
    const line = new Line(port)
    // uWebSockets needs the first line of a request in one piece.
    const [firstLine = '', ...rest] = post(version).split(/(?<=\n)/)
    line.socket.write(firstLine)
    for (const byte of rest.join('')) {
      line.socket.write(byte)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    line.socket.write(post(version))
    await expect.poll(() => line.text.split('"result":"33"').length).toBe(3)
    line.socket.destroy()
  })

  test('error: chunks without end', async () => {
    const port = await serve({ ...settings, maxBodyBytes: 10_000 })
    const line = new Line(port)
    line.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
    const flood = setInterval(() => line.socket.write(`400\r\n${' '.repeat(1024)}\r\n`), 2)
    await line.closed
    clearInterval(flood)
    await isServed(port)
  })

  test('behavior: a large answer is complete at any reading speed', async () => {
    const port = await serve(settings)
    const line = new Line(port)
    let isPaused = false
    const blink = setInterval(() => {
      isPaused = !isPaused
      if (isPaused) line.socket.pause()
      else line.socket.resume()
    }, 20)
    line.socket.write(post(large))
    const size = () => Number(/Content-Length: (\d+)/i.exec(line.text)?.[1] ?? Number.NaN)
    const body = () => line.text.slice(line.text.indexOf('\r\n\r\n') + 4)
    await expect.poll(() => body().length === size(), { timeout: 20_000 }).toBe(true)
    clearInterval(blink)
    line.socket.resume()
    const answers = JSON.parse(body()) as { result: string }[]
    expect(answers).toHaveLength(200)
    expect(answers.every(({ result }) => result === `0x${'ab'.repeat(100_000)}`)).toBe(true)
    // The connection stays open.
    line.text = ''
    line.socket.write(post(version) + post(version))
    await expect.poll(() => line.text.split('"result":"33"').length).toBe(3)
    line.socket.destroy()
  })

  test('error: a connection with an unread large answer is closed, and unread answers are limited', async () => {
    const port = await serve({ ...settings, writeMs: 1500, maxUnreadBytes: 60_000_000 })
    const deaf = new Line(port)
    deaf.socket.pause()
    deaf.socket.write(post(large))
    await new Promise((resolve) => setTimeout(resolve, 500))
    const second = new Line(port)
    second.socket.write(post(large))
    await expect.poll(() => second.status).toBe('503')
    expect(second.text).toContain('Server overloaded')
    await isServed(port)
    const isTaken = async () => {
      const third = new Line(port)
      third.socket.write(post(large))
      await expect.poll(() => third.text.length > 0).toBe(true)
      third.socket.destroy()
      return third.status
    }
    await expect.poll(isTaken, { timeout: 10_000 }).toBe('200')
    // A paused socket does not notice that it was closed.
    deaf.socket.resume()
    await deaf.closed
    expect(deaf.text.length).toBeLessThan(40_000_000)
  })
})

test('error: many heads that never end, while others are answered', async () => {
  const port = await serve()
  const lines = Array.from({ length: 300 }, () => new Line(port))
  for (const line of lines) line.socket.write('POST / HTTP/1.1\r\nHost: a\r\n')
  const drip = setInterval(() => {
    for (const line of lines) if (!line.isClosed) line.socket.write('x-a: b\r\n')
  }, 500)
  await isServed(port)
  await Promise.all(lines.map(({ closed }) => closed))
  clearInterval(drip)
  expect(lines.every(({ text }) => text === '')).toBe(true)
  await isServed(port)
})
