import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

// Bodies above 64 KB, which the core splits into requests, and many large bodies at once: a real node over real sockets.

const kilo = 1024
const mega = 2 ** 20
const bodies = 24
const identity = '0x0000000000000000000000000000000000000004'
const version = '{"jsonrpc":"2.0","id":"last","method":"net_version"}'

/** A call of the identity precompile with `data`, which it returns. */
function echo(id: unknown, data: string): object {
  return { jsonrpc: '2.0', id, method: 'eth_call', params: [{ to: identity, data }, 'latest'] }
}

let node: NodeProcess
let port: number
beforeAll(async () => {
  node = await NodeProcess.start(['--workers', '1'], '[metrics]\nenabled = true\nport = 0\n')
  port = Number(new URL(node.url).port)
})
afterAll(() => node.stop())

describe('a body above 64 KB', () => {
  test('behavior: one request', async () => {
    const data = `0x${'ab'.repeat(100 * kilo)}`
    const { status, body } = await node.post(JSON.stringify(echo('large', data)))
    expect(status).toBe(200)
    expect(body).toEqual({ jsonrpc: '2.0', id: 'large', result: data })
  })

  test('behavior: one request of a WebSocket', async () => {
    const client = await Client.open(node.url)
    const data = `0x${'7f'.repeat(100 * kilo)}`
    expect(await client.exchange(JSON.stringify(echo(7, data)))).toEqual({ jsonrpc: '2.0', id: 7, result: data })
    await client.close()
  })

  test.each([
    ['large', `0x${'ab'.repeat(100 * kilo)}`],
    ['small', '0xab'],
  ])('error: the first of two faults, of a %s call and a block', async (_size, data) => {
    const messages = []
    for (const gas of ['zz', 'abc', '0x1']) {
      const params = [{ to: identity, gas, data }, 'zz']
      const { body } = await node.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }))
      messages.push((body as { error: { message: string } }).error.message.split(' (')[0])
    }
    // The second call has a late fault: the fault of form of the block precedes it.
    const block = "Invalid block identifier 'zz'"
    expect(messages).toEqual(['Invalid param zz: value must be a valid hex or string number.', block, block])
  })

  test('behavior: a batch, in order, with a notification, a refusal and a write', async () => {
    const batch = [
      echo('first', `0x${'01'.repeat(40 * kilo)}`),
      { jsonrpc: '2.0', method: 'net_version' },
      { jsonrpc: '2.0', id: 2, method: 'evm_mine' },
      { jsonrpc: '2.0', id: 3, method: 'eth_blockNumber' },
      { jsonrpc: '2.0', id: 4, method: 'frotz' },
      { jsonrpc: '2.0', id: 5 },
      echo('last', `0x${'02'.repeat(40 * kilo)}`),
    ]
    const { status, body } = await node.post(JSON.stringify(batch))
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { id: 'first', result: `0x${'01'.repeat(40 * kilo)}` },
      { id: 2, result: null },
      { id: 3, result: '0x1' },
      { id: 4, error: { code: -32601 } },
      { id: 5, error: { code: -32600 } },
      { id: 'last', result: `0x${'02'.repeat(40 * kilo)}` },
    ])
  })

  const batchOf = (count: number) =>
    `[${Array(count)
      .fill(version)
      .join(`${' '.repeat(2 * kilo)},`)}]`

  test.each<[string, string, object]>([
    ['that is no JSON', `${version} ${'{'.repeat(100 * kilo)}`, { id: null, error: { code: -32700 } }],
    [
      'with 65 levels',
      `{"id":1,"method":"net_version","params":${'['.repeat(65)}${' '.repeat(100 * kilo)}${']'.repeat(65)}}`,
      { id: null, error: { code: -32600, message: expect.stringContaining('64 levels') } },
    ],
    [
      'with 50,001 values',
      `[${'0,'.repeat(50_000)}0]`,
      { id: null, error: { code: -32600, message: expect.stringContaining('50000 values') } },
    ],
    ['with 51 requests', batchOf(51), { id: null, error: { code: -32600 } }],
    ['with an empty batch', `[${' '.repeat(100 * kilo)}]`, { id: null, error: { code: -32600 } }],
    [
      'whose parameter is too large for its kind',
      JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'eth_getBalance', params: [`0x${'00'.repeat(100 * kilo)}`] }),
      { id: 9, error: { code: -32602 } },
    ],
  ])('error: a body %s', async (_name, text, expected) => {
    expect(text.length).toBeGreaterThan(64 * kilo)
    expect((await node.post(text)).body).toMatchObject(expected)
    // The worker still serves.
    expect(await node.result('net_version')).toBe('33')
  })

  test('behavior: 50 requests, the largest batch', async () => {
    const { body } = await node.post(batchOf(50))
    expect(body).toEqual(Array(50).fill({ jsonrpc: '2.0', id: 'last', result: '33' }))
  })
})

describe('many large bodies at once', () => {
  const sockets: Socket[] = []
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
  })

  /** Sends a request with a body of `bytes`, padded with spaces; `text` is the received answer. */
  function send(bytes: number): { text: string } {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const exchange = { text: '' }
    socket.on('error', () => undefined)
    socket.on('data', (piece) => {
      exchange.text += piece.toString('latin1')
    })
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
    socket.write(head + ' '.repeat(bytes - version.length) + version)
    return exchange
  }

  async function waitingBytes(): Promise<number> {
    const page = await (await fetch(node.metricsUrl ?? '')).text()
    return Number(/^rhizome_waiting_bytes (\S+)/m.exec(page)?.[1])
  }

  test('behavior: all are answered, another caller too, in bounded memory that is given back', async () => {
    // 96 MB, three quarters of the share of one client with the default limit and one worker.
    const exchanges = Array.from({ length: bodies }, () => send(4 * mega))
    const answered = () => exchanges.filter(({ text }) => text.includes('"id":"last","result":"33"')).length
    let largest = 0
    let slowestMs = 0
    const deadline = Date.now() + 20_000
    while (answered() < bodies && Date.now() < deadline) {
      const startedMs = performance.now()
      expect(await node.result('net_version')).toBe('33')
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
      largest = Math.max(largest, await waitingBytes())
    }
    expect(answered()).toBe(bodies)
    // Blocks of the bodies, and their joined copies, but not more than the share.
    expect(largest).toBeLessThanOrEqual(128 * mega)
    expect(slowestMs).toBeLessThan(5000)
    await expect.poll(waitingBytes).toBe(0)
  })

  test('error: beyond the share of a client, bodies are refused with 503 and the rest is answered', async () => {
    const exchanges = Array.from({ length: 2 * bodies }, () => send(4 * mega))
    const status = (code: number) => exchanges.filter(({ text }) => text.startsWith(`HTTP/1.1 ${code} `)).length
    let largest = 0
    const deadline = Date.now() + 20_000
    while (status(200) + status(503) < exchanges.length && Date.now() < deadline) {
      largest = Math.max(largest, await waitingBytes())
    }
    expect(status(200) + status(503)).toBe(exchanges.length)
    expect(status(200)).toBeGreaterThan(0)
    expect(largest).toBeLessThanOrEqual(128 * mega)
    await expect.poll(waitingBytes).toBe(0)
  })
})

describe('default limits', () => {
  test.each<[string, string[], number]>([
    ['a private address', [], 5 * mega],
    ['a public address', ['--http-host', '0.0.0.0', '--open'], mega],
  ])('behavior: bodies and messages on %s', async (_address, flags, limit) => {
    const served = await NodeProcess.start(flags)
    const url = served.url.replace('0.0.0.0', '127.0.0.1')
    const post = async (bytes: number) => {
      const body = version.padStart(bytes)
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return { status: response.status, body: await response.json() }
    }
    expect(await post(limit)).toEqual({ status: 200, body: { jsonrpc: '2.0', id: 'last', result: '33' } })
    expect(await post(limit + 1)).toMatchObject({
      status: 413,
      body: { error: { code: -32600, message: `Request body is larger than ${limit} bytes` } },
    })
    const client = await Client.open(url)
    expect(await client.exchange(version.padStart(limit))).toMatchObject({ id: 'last', result: '33' })
    client.socket.send(version.padStart(limit + 1))
    expect(await client.closed).toEqual({ code: 1009, reason: `Max frame length of ${limit} has been exceeded.` })
    await served.stop()
  })
})
