import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ConnectionTable } from '../src/http/connectionTable.ts'
import type { Server } from '../src/server.ts'
import { fakeServer } from './fakeServer.ts'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

const version = '{"jsonrpc":"2.0","id":1,"method":"net_version"}'
const slow = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{},"latest"]}'
const large = `{"jsonrpc":"2.0","id":1,"method":"eth_getCode","params":["0x${'00'.repeat(20)}","latest"]}`
const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
const upgrade = (more = '', version = 13) =>
  'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: ${version}\r\n${more}\r\n`

/** Connects from one of the addresses of this machine. */
function open(port: number, from = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Returns whether a connection answers a request; false if it was closed. */
function answers(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString().startsWith('HTTP/1.1 200')))
    socket.once('close', () => resolve(false))
    socket.on('error', () => resolve(false))
    socket.write(post(version))
  })
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('connections of one client', () => {
  let server: Server
  let table: ConnectionTable
  afterEach(() => server.stop(0))

  async function serve(settings: object = {}): Promise<number> {
    table = new ConnectionTable()
    server = fakeServer({ rpc: { timeoutMs: 0 }, ...settings }, { connections: table.memory })
    return server.listen(0)
  }
  const counted = (...address: number[]) => table.count(table.slotOf(Uint8Array.from(address)))

  test('behavior: one more than allowed is closed, other clients are not, and room is made again', async () => {
    const port = await serve({ http: { maxConnectionsPerIp: 3 } })
    const three = await Promise.all([open(port), open(port), open(port)])
    expect(await Promise.all(three.map(answers))).toEqual([true, true, true])
    expect(await answers(await open(port))).toBe(false)
    expect(await answers(await open(port, '127.0.0.2'))).toBe(true)
    expect(await answers(three[0] as Socket)).toBe(true)
    three[1]?.destroy()
    await expect.poll(() => counted(127, 0, 0, 1)).toBe(2)
    expect(await answers(await open(port))).toBe(true)
    expect(await answers(await open(port))).toBe(false)
  })

  test('behavior: over IPv6, a client of IPv4 is the same as over IPv4', async (context) => {
    if (!hasIpv6) context.skip()
    const port = await serve({ http: { host: '::', maxConnectionsPerIp: 2 } })
    const v4 = await Promise.all([open(port), open(port), open(port)])
    expect((await Promise.all(v4.map(answers))).sort()).toEqual([false, true, true])
    expect(counted(127, 0, 0, 1)).toBe(2)
    const v6 = await new Promise<Socket>((resolve) => {
      const socket = connect({ port, host: '::1' }, () => resolve(socket))
    })
    expect(await answers(v6)).toBe(true)
    expect(counted(...Array(15).fill(0), 1)).toBe(1)
  })

  test('behavior: WebSockets count, too', async () => {
    const port = await serve({ http: { maxConnectionsPerIp: 2 } })
    const first = await Client.open(`http://127.0.0.1:${port}`)
    const second = await Client.open(`http://127.0.0.1:${port}`)
    await expect(Client.open(`http://127.0.0.1:${port}`)).rejects.toThrow()
    expect(await second.exchange(version)).toMatchObject({ result: '33' })
    await first.close()
    await expect.poll(() => counted(127, 0, 0, 1)).toBe(1)
    await second.close()
    await expect.poll(() => counted(127, 0, 0, 1)).toBe(0)
  })

  test('behavior: connections of trusted proxies do not count', async () => {
    const port = await serve({ http: { maxConnectionsPerIp: 1, trustedProxies: ['127.0.0.3'] } })
    const proxied = await Promise.all(Array.from({ length: 5 }, () => open(port, '127.0.0.3')))
    expect(await Promise.all(proxied.map(answers))).toEqual(Array(5).fill(true))
    expect(await answers(await open(port))).toBe(true)
    expect(await answers(await open(port))).toBe(false)
    expect(counted(127, 0, 0, 3)).toBe(0)
  })

  test('behavior: however a connection ends, none stays in the count', async () => {
    const port = await serve({ http: { maxConnectionsPerIp: 1000, maxBodyBytes: 1000 } })
    const kinds = [
      [],
      ['POST'],
      [post(version)],
      [post(version), post(version)],
      [post(version) + post(version) + post(version)],
      [post(version, 'Connection: close\r\n')],
      [post(version, 'Connection: close\r\n') + post(version)],
      [post(version).slice(0, -3)],
      [post(large)],
      [post(large) + post(large)],
      [post(slow)],
      [post(slow) + post(version)],
      [post('x'.repeat(2000))],
      [
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n',
        'x'.repeat(2001),
      ],
      [post(version, 'Origin: https://elsewhere.example.com\r\n')],
      ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', post(version)],
      ['HEAD /health HTTP/1.1\r\nHost: a\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['OPTIONS /x/y HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['PUT / HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n', post(version)],
      ['GET / HTTP/1.0\r\n\r\n'],
      ['no HTTP\r\n\r\n'],
      [upgrade()],
      [upgrade(), Buffer.from('8180000000000a', 'hex').toString('latin1')],
      [upgrade('Origin: https://elsewhere.example.com\r\n')],
      [upgrade('Origin: https://elsewhere.example.com\r\n') + post(version)],
      [upgrade('', 12), post(version)],
      [`${upgrade()}\u0081\u0000`],
    ]
    const run = async (pieces: readonly string[], seed: number): Promise<void> => {
      const socket = await open(port)
      socket.on('error', () => undefined).resume()
      for (const piece of pieces) {
        socket.write(piece, 'latin1')
        if (seed % 3 > 0) await pause(seed % 20)
      }
      await pause(seed % 40)
      if (seed % 3 === 0) socket.destroy()
      else if (seed % 3 === 1) socket.resetAndDestroy()
      else socket.end()
    }
    for (let round = 0; round < 20; round++) {
      await Promise.all(kinds.map((pieces, index) => run(pieces, round * 7 + index)))
      expect(counted(127, 0, 0, 1)).toBeGreaterThanOrEqual(0)
    }
    await expect.poll(() => counted(127, 0, 0, 1), { timeout: 15_000 }).toBe(0)
    expect(table.memory.slice(2).every((count) => count === 0)).toBe(true)
    expect(await answers(await open(port))).toBe(true)
  })
})

describe('of all workers together', () => {
  let node: NodeProcess
  afterAll(() => node.stop())

  test('behavior: the limit is that of the node, and refusals are counted', async () => {
    node = await NodeProcess.start(
      ['--workers', '3'],
      '[http]\nmaxConnectionsPerIp = 20\n[metrics]\nenabled = true\nport = 0\n',
    )
    const port = Number(new URL(node.url).port)
    const sockets = await Promise.all(Array.from({ length: 60 }, () => open(port, '127.0.0.7')))
    const answered = await Promise.all(sockets.map(answers))
    expect(answered.filter(Boolean)).toHaveLength(20)
    const page = await (await fetch(node.metricsUrl ?? '')).text()
    expect(page).toMatch(/^rhizome_connections_refused_total 40$/m)
    expect(await node.result('net_version')).toBe('33')
    for (const socket of sockets) socket.destroy()
    const areAllServed = async (): Promise<boolean> => {
      const again = await Promise.all(Array.from({ length: 20 }, () => open(port, '127.0.0.7')))
      const served = await Promise.all(again.map(answers))
      for (const socket of again) socket.destroy()
      return served.every(Boolean)
    }
    await expect.poll(areAllServed, { timeout: 15_000, interval: 200 }).toBe(true)
  })
})

describe('the table', () => {
  test('behavior: IPv4 in IPv6 form is the same client, IPv6 counts by /64', () => {
    const table = new ConnectionTable()
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
    expect(table.slotOf(bytes('00000000000000000000ffffc0000207'))).toBe(table.slotOf(bytes('c0000207')))
    expect(table.slotOf(bytes('20010db8000000010000000000000001'))).toBe(
      table.slotOf(bytes('20010db80000000100000000000000ff')),
    )
    expect(table.slotOf(bytes('20010db8000000010000000000000001'))).not.toBe(
      table.slotOf(bytes('20010db8000000020000000000000001')),
    )
  })

  test('behavior: ten thousand clients hardly ever share both places', () => {
    const table = new ConnectionTable()
    const all = Array.from({ length: 10_000 }, (_none, index) =>
      table.slotOf(Uint8Array.of(10, 0, index >> 8, index & 255)),
    )
    for (const place of all) table.enter(place, 1000)
    expect(all.filter((place) => table.count(place) > 1).length).toBeLessThan(1500)
    for (const place of all) table.leave(place)
    expect(table.memory.slice(2).every((count) => count === 0)).toBe(true)
  })
})
