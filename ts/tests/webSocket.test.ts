import { afterEach, describe, expect, test } from 'vitest'
import { Counters } from '../src/observe/counters.ts'
import type { Server } from '../src/server.ts'
import { fakeAddon } from './fakeAddon.ts'
import { fakeServer } from './fakeServer.ts'
import { exchange } from './rawSocket.ts'
import { Client, shakenHands } from './webSocket.ts'

// The WebSocket server over a fake addon: frames, limits, refusals, closing.

const version = '{"jsonrpc":"2.0","id":1,"method":"net_version","params":[]}'
const versionAnswer = { jsonrpc: '2.0', id: 1, result: '33' }
const call = (id: number, method: string, params: unknown[] = []) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const cancelled: number[] = []
let server: Server | undefined
let openSockets: Int32Array

async function serve(settings: object = {}): Promise<string> {
  openSockets = new Int32Array(new SharedArrayBuffer(4))
  server = fakeServer(settings, { native: fakeAddon(cancelled), openSockets, counters: new Counters([]) })
  return `http://127.0.0.1:${await server.listen(0)}`
}

afterEach(() => server?.stop(0))

describe('messages', () => {
  test('behavior: the same requests as over HTTP', async () => {
    const client = await Client.open(await serve())
    expect(await client.exchange(version)).toEqual(versionAnswer)
    expect(await client.exchange(`[${version},${version}]`)).toEqual([versionAnswer, versionAnswer])
    expect(await client.exchange(call(2, 'eth_nope'))).toMatchObject({ id: 2, error: { code: -32601 } })
    expect(await client.exchange(call(3, 'web3_sha3'))).toMatchObject({ id: 3, error: { code: -32602 } })
    expect(await client.exchange(call(4, 'eth_estimateGas', [{}]))).toMatchObject({ error: { data: '0x08c379a0' } })
    const code = await client.exchange(call(5, 'eth_getCode', [`0x${'00'.repeat(20)}`, 'latest']))
    expect(code?.result).toHaveLength(200_002)
    client.socket.send('{"jsonrpc":"2.0","method":"net_version","params":[]}')
    expect(await client.exchange('{"id":1e3,"method":"net_version"}')).toMatchObject({ id: 1000 })
  })

  test('behavior: a slow request does not delay the next one', async () => {
    const client = await Client.open(await serve())
    client.socket.send(call(1, 'eth_call', [{}, 'latest']))
    expect(await client.exchange(call(2, 'eth_chainId'))).toMatchObject({ id: 2 })
    expect(await client.next()).toMatchObject({ id: 1, result: '0x' })
  })

  test('behavior: binary messages are read as text', async () => {
    const client = await Client.open(await serve())
    expect(await client.exchange(Buffer.from(version))).toEqual(versionAnswer)
    expect(await client.exchange(Buffer.from(`\ufeff${version}`))).toEqual(versionAnswer)
    const answer = await client.exchange(Buffer.from([0x22, 0xff, 0xfe, 0x22]))
    expect(answer).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test('error: an invalid request is answered, and the connection stays open', async () => {
    const client = await Client.open(await serve())
    for (const text of ['', '{', 'hello', version + version]) {
      expect(await client.exchange(text)).toMatchObject({ id: null, error: { code: -32700 } })
    }
    for (const text of ['[]', '5', '{}', 'null']) {
      expect(await client.exchange(text)).toMatchObject({ id: null, error: { code: -32600 } })
    }
    const nested = await client.exchange('['.repeat(100_000) + ']'.repeat(100_000))
    expect(nested?.error?.code).toBeLessThan(-32599)
    expect(await client.exchange(version)).toEqual(versionAnswer)
  })

  test('error: subscriptions are not known over HTTP and not in batches', async () => {
    const url = await serve()
    const body = call(1, 'eth_subscribe', ['newHeads'])
    for (const text of [body, call(1, 'eth_subscribe'), call(1, 'eth_unsubscribe', ['0x1'])]) {
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
      expect(await response.json()).toMatchObject({ error: { code: -32601, message: 'method not found' } })
    }
    const client = await Client.open(url)
    expect(await client.exchange(`[${body}]`)).toMatchObject([{ error: { code: -32601 } }])
  })

  test('error: parameters of subscriptions', async () => {
    const client = await Client.open(await serve())
    const refused: [unknown[], string][] = [
      [['newheads'], 'kind: expected newHeads, logs, newPendingTransactions, newWork, syncing'],
      [[5], 'kind: expected'],
      [['newHeads', 'x'], 'options: expected an object'],
      [['newHeads', true], 'options: expected an object'],
      [['logs', []], 'options: expected an object'],
      [['logs', { address: '0x12' }], 'options.address: expected 20 bytes'],
      [['logs', { topics: [['0x12']] }], 'options.topics: expected 32 bytes'],
      [['logs', {}, {}], 'takes [kind, options?], got 3'],
      [['logs', { address: new Array(4000).fill(`0x${'ab'.repeat(20)}`) }], 'at most 131072 bytes'],
      [[], 'takes [kind, options?], got 0'],
    ]
    for (const [params, words] of refused) {
      const answer = await client.exchange(call(1, 'eth_subscribe', params))
      expect(answer, JSON.stringify(params)).toMatchObject({ error: { code: -32602 } })
      expect(answer?.error?.message).toContain(words)
    }
    for (const params of [['zz'], [null], [], ['0x1', '0x2'], [{}]]) {
      expect(await client.exchange(call(1, 'eth_unsubscribe', params))).toMatchObject({ error: { code: -32602 } })
    }
    expect(await client.exchange(call(1, 'eth_unsubscribe', ['0x1']))).toMatchObject({ result: false })
  })

  test('error: a module that is not served has no subscriptions either', async () => {
    const client = await Client.open(await serve({ modules: { eth: { deny: ['eth_subscribe'] } } }))
    const answer = await client.exchange(call(1, 'eth_subscribe', ['newHeads']))
    expect(answer?.error?.message).toBe('the method eth_subscribe does not exist/is not available')
  })
})

describe('refused connections', () => {
  test('error: foreign hosts and origins', async () => {
    const url = await serve({ http: { hosts: ['rpc.example.org'], cors: ['https://app.example.org'] } })
    const open = (headers: Record<string, string>) => Client.open(url, { headers }).then((one) => one.close())
    await expect(open({ host: 'evil.example.org' })).rejects.toThrow(/^403 .*Host not allowed/)
    await expect(open({ origin: 'https://evil.example.org' })).rejects.toThrow(/^403 .*Origin not allowed/)
    await open({ host: 'rpc.example.org', origin: 'https://app.example.org' })
    expect(openSockets[0]).toBe(0)
  })

  test('error: upgrades other than WebSocket version 13', async () => {
    const url = await serve()
    await expect(Client.open(url, { protocolVersion: 8 })).rejects.toThrow(/^426 /)
    expect((await fetch(url)).status).toBe(405)
    const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    const { text } = await exchange(Number(new URL(url).port), `${upgrade}Sec-WebSocket-Key: short\r\n\r\n`, 50)
    expect(text).toMatch(/^HTTP\/1.1 405 /)
  })

  test('error: switched off', async () => {
    await expect(Client.open(await serve({ ws: { enabled: false } }))).rejects.toThrow(/^405 /)
  })

  test('error: too many connections; closing one makes room', async () => {
    const url = await serve({ ws: { maxConnections: 2 } })
    const first = await Client.open(url)
    await Client.open(url)
    await expect(Client.open(url)).rejects.toThrow(/^503 .*-32005.*Too many connections: 2 are open/)
    await first.close()
    const third = await Client.open(url)
    expect(await third.exchange(version)).toEqual(versionAnswer)
  })

  test('behavior: HTTP is served on the same port, on any path', async () => {
    const url = await serve({ ws: { maxConnections: 1 } })
    const client = await Client.open(`${url}/some/path?query`)
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: version,
    })
    expect(await response.json()).toEqual(versionAnswer)
    expect(await client.exchange(version)).toEqual(versionAnswer)
  })
})

describe('limits', () => {
  test('error: a message that is too large closes the connection', async () => {
    const url = await serve({ ws: { maxMessageBytes: 10_000 } })
    const client = await Client.open(url)
    expect(await client.exchange(version.padEnd(10_000))).toEqual(versionAnswer)
    client.socket.send(version.padEnd(10_001))
    const reason = 'Max frame length of 10000 has been exceeded.'
    expect(await client.closed).toEqual({ code: 1009, reason })
    // A message far above the limit is not read.
    const other = await Client.open(url)
    other.socket.send(' '.repeat(1_000_000))
    expect((await other.closed).code).toBe(1006)
    expect(openSockets[0]).toBe(0)
  })

  test('error: too many requests at a time', async () => {
    const client = await Client.open(await serve({ ws: { maxRequests: 2 } }))
    for (let id = 1; id <= 3; id++) client.socket.send(call(id, 'eth_call', [{}, 'latest']))
    const refused = await client.next()
    expect(refused).toMatchObject({ id: 3, error: { code: -32005, message: 'Too many requests: 2 wait' } })
    expect([(await client.next())?.result, (await client.next())?.result]).toEqual(['0x', '0x'])
    expect(await client.exchange(version)).toEqual(versionAnswer)
  })

  test('error: the connection of a client that does not read is closed, with the reason as last message', async () => {
    const client = await Client.open(await serve({ ws: { maxBufferedBytes: 500_000 } }))
    let received = 0
    client.socket.on('message', () => {
      received++
    })
    client.socket.pause()
    for (let id = 1; id <= 200; id++) client.socket.send(call(id, 'eth_getCode', [`0x${'00'.repeat(20)}`, 'latest']))
    while (openSockets[0] !== 0) await new Promise((resolve) => setTimeout(resolve, 10))
    client.socket.resume()
    expect(await client.closed).toEqual({ code: 1013, reason: 'More than 500000 bytes wait to be read' })
    expect(received).toBeGreaterThan(0)
    expect(received).toBeLessThan(200)
  })

  test('error: unread messages of all clients together are limited', async () => {
    const url = await serve({ ws: { maxBufferedBytes: 1_000_000_000, maxUnreadBytes: 20_000_000 } })
    const ask = (client: Client, count: number) => {
      for (let id = 1; id <= count; id++)
        client.socket.send(call(id, 'eth_getCode', [`0x${'00'.repeat(20)}`, 'latest']))
    }
    const [first, second, honest] = await Promise.all([Client.open(url), Client.open(url), Client.open(url)])
    let received = 0
    first.socket.on('message', () => {
      received++
    })
    first.socket.pause()
    ask(first, 80)
    second.socket.pause()
    ask(second, 300)
    while (openSockets[0] !== 2) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await honest.exchange(version)).toEqual(versionAnswer)
    second.socket.resume()
    expect(await second.closed).toEqual({ code: 1013, reason: 'Too much waits to be read by all clients' })
    first.socket.resume()
    await expect.poll(() => received).toBe(80)
    // Bytes that were read no longer count.
    first.socket.pause()
    ask(first, 80)
    expect(await honest.exchange(version)).toEqual(versionAnswer)
    first.socket.resume()
    await expect.poll(() => received).toBe(160)
  })

  test('behavior: one answer may be larger than what may wait', async () => {
    const client = await Client.open(await serve({ ws: { maxBufferedBytes: 1024 } }))
    for (let id = 1; id <= 5; id++) {
      const answer = await client.exchange(call(id, 'eth_getCode', [`0x${'00'.repeat(20)}`, 'latest']))
      expect(answer?.result).toHaveLength(200_002)
    }
  })

  test('error: a silent connection is closed, a connection that answers pings is not', async () => {
    const url = await serve({ ws: { idleSeconds: 8 } })
    const alive = await Client.open(url)
    const silent = await shakenHands(url)
    let pings = 0
    alive.socket.on('ping', () => {
      pings++
    })
    await silent.closed
    expect(silent.received()[0]).toBe(0x89)
    expect(await alive.exchange(version)).toEqual(versionAnswer)
    expect(pings).toBeGreaterThan(0)
  })
})

/** Builds a masked frame of a client; the mask is zero. */
function frame(first: number, payload: string | Buffer): Buffer {
  const data = Buffer.from(payload)
  const length =
    data.length < 126 ? Buffer.from([0x80 | data.length]) : Buffer.from([0xfe, data.length >> 8, data.length & 255])
  return Buffer.concat([Buffer.from([first]), length, Buffer.alloc(4), data])
}

describe('frames', () => {
  test.each([
    ['reserved bits', frame(0xf1, version)],
    ['an unknown opcode', frame(0x83, version)],
    ['a continuation of nothing', frame(0x80, version)],
    ['a fragmented ping', frame(0x09, 'x')],
    ['a ping that is too long', frame(0x89, 'x'.repeat(126))],
    ['text that is not UTF-8', frame(0x81, Buffer.from([0x22, 0xff, 0x22]))],
    ['a length beyond all limits', Buffer.from([0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0])],
    ['another request of HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
  ])('error: %s ends the connection and nothing else', async (_name, bytes) => {
    const url = await serve()
    const { socket, closed } = await shakenHands(url)
    socket.write(bytes)
    await closed
    expect(openSockets[0]).toBe(0)
    expect(await (await Client.open(url)).exchange(version)).toEqual(versionAnswer)
  })

  test('behavior: fragments make a message, pings are answered in between', async () => {
    const { socket, received } = await shakenHands(await serve())
    for (const byte of Buffer.concat([
      frame(0x01, version.slice(0, 9)),
      frame(0x89, 'hi'),
      frame(0x80, version.slice(9)),
    ])) {
      socket.write(Buffer.from([byte]))
    }
    while (!received().includes('}')) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(received().subarray(0, 4)).toEqual(Buffer.from([0x8a, 2, 0x68, 0x69]))
    expect(JSON.parse(received().subarray(6).toString())).toEqual(versionAnswer)
    socket.destroy()
  })
})

describe('the end', () => {
  test('behavior: a client that hangs up has its executions cancelled', async () => {
    const client = await Client.open(await serve())
    const before = cancelled.length
    for (let id = 1; id <= 3; id++) client.socket.send(call(id, 'eth_call', [{}, 'latest']))
    expect(await client.exchange(call(4, 'eth_chainId'))).toMatchObject({ id: 4 })
    client.socket.terminate()
    while (openSockets[0] !== 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(cancelled.length).toBe(before + 3)
  })

  test('behavior: a server that stops answers what runs, then says so', async () => {
    const client = await Client.open(await serve())
    client.socket.send(call(1, 'eth_call', [{}, 'latest']))
    expect(await client.exchange(version)).toEqual(versionAnswer)
    await server?.stop(5000)
    expect(await client.next()).toMatchObject({ id: 1, result: '0x' })
    expect(await client.closed).toEqual({ code: 1001, reason: 'Server is shutting down' })
  })

  test('behavior: a thousand closed connections leave no resources behind', async () => {
    const url = await serve()
    const round = async (index: number): Promise<void> => {
      const client = await Client.open(url)
      await client.exchange(version)
      if (index % 2 === 0) client.socket.terminate()
      await client.close()
    }
    const rounds = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 10) {
        await Promise.all(Array.from({ length: 10 }, (_none, at) => round(index + at)))
      }
    }
    await rounds(1000)
    while (openSockets[0] !== 0) await new Promise((resolve) => setTimeout(resolve, 5))
  })
})
