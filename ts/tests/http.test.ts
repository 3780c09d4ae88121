import { request } from 'node:http'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Counters } from '../src/observe/counters.ts'
import type { Server } from '../src/server.ts'
import { fakeAddon } from './fakeAddon.ts'
import { fakeServer } from './fakeServer.ts'
import { exchange } from './rawSocket.ts'

const json = { 'content-type': 'application/json' }
const version = '{"jsonrpc":"2.0","id":1,"method":"net_version","params":[]}'
const versionAnswer = '{"jsonrpc":"2.0","id":1,"result":"33"}'
const cancelled: number[] = []
const defects: unknown[] = []
const servers: Server[] = []
let port = 0
let other = 0

async function serve(settings: object): Promise<number> {
  const server = fakeServer(settings, {
    native: fakeAddon(cancelled),
    observe: ({ defect }) => {
      if (defect !== undefined) defects.push(defect)
    },
    counters: new Counters([]),
  })
  servers.push(server)
  return server.listen(0)
}

beforeAll(async () => {
  port = await serve({})
  other = await serve({
    compat: 'reference',
    http: {
      cors: ['https://app.example.org', 'dev.example.org'],
      hosts: ['rpc.example.org'],
      maxBodyBytes: 20_000,
      compression: 'all',
    },
    rpc: { maxBatchRequests: 3 },
  })
})

afterAll(async () => {
  for (const server of servers) await server.stop(0)
})

interface Got {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

function send(options: {
  port?: number
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string
}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: options.port ?? port,
        method: options.method ?? 'POST',
        path: options.path ?? '/',
        headers: options.headers ?? json,
      },
      (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(options.body ?? (options.method === undefined ? version : undefined))
  })
}

const rpc = async (method: string, params: unknown[], at = port) =>
  JSON.parse(
    (await send({ port: at, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).body.toString(),
  )

describe('requests', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'Application/JSON',
    'application/json-rpc',
  ])('behavior: media type %s', async (type) => {
    const { status, headers, body } = await send({ headers: { 'content-type': type } })
    expect([status, headers['content-type'], body.toString()]).toEqual([200, 'application/json', versionAnswer])
  })

  test.each(['application/jsonrequest', 'text/plain', ''])('error: media type "%s"', async (type) => {
    const { status, body } = await send({ headers: type === '' ? {} : { 'content-type': type } })
    expect(status).toBe(415)
    expect(JSON.parse(body.toString())).toMatchObject({ id: null, error: { code: -32600 } })
  })

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('error: %s', async (method) => {
    const { status, headers } = await send({ method })
    expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS'])
  })

  test.each(['/', '/4f1c7e0b8f7f4a54', '/v2/4f1c7e0b8f7f4a54', '/any/path?x=1'])('behavior: path %s', async (path) => {
    expect((await send({ path })).body.toString()).toBe(versionAnswer)
  })

  test('behavior: the largest body passes, one byte more does not', async () => {
    const largest = version.padStart(5_242_880)
    expect((await send({ body: largest })).status).toBe(200)
    const { status, body } = await send({ body: ` ${largest}` })
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([413, -32600])
  })

  test('error: a declared length over the limit is refused before the body arrives', async () => {
    const head =
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 6000000\r\n\r\n'
    expect((await exchange(port, head)).text).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('error: a chunked body over the limit', async () => {
    const { status } = await send({
      port: other,
      headers: { ...json, 'transfer-encoding': 'chunked', host: 'rpc.example.org' },
      body: ' '.repeat(30_000),
    })
    expect(status).toBe(413)
  })

  test('error: a body that is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"id":1,"method":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`
    expect((await exchange(port, Buffer.concat([Buffer.from(head), bytes]))).text).toContain('-32700')
  })

  test('behavior: a byte order mark is no fault', async () => {
    expect((await send({ body: `\ufeff${version}` })).body.toString()).toBe(versionAnswer)
  })

  test('behavior: the connection stays open, pipelined requests are answered in order', async () => {
    const one = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 59\r\n\r\n${version}`
    const { text, isClosed } = await exchange(port, one + one)
    expect(text.match(/"result":"33"/g)).toHaveLength(2)
    expect(isClosed).toBe(false)
    expect(text.toLowerCase()).not.toContain('connection: close')
  })

  test('behavior: chunked bodies', async () => {
    const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3b\r\n${version}\r\n0\r\n\r\n`
    expect((await exchange(port, chunked)).text).toContain(versionAnswer)
  })

  // Another request could be smuggled in the rest of this one.
  const smuggled =
    'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nPOST / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\n'
  const { length } = version
  const chunks = `${length.toString(16)}\r\n${version}\r\n0\r\n\r\n`
  test.each([
    ['two lengths that differ', `Content-Length: ${length}\r\nContent-Length: ${length + 1}`, version],
    ['two lengths that do not', `Content-Length: ${length}\r\nContent-Length: ${length}`, version],
    ['two lengths in other letters', `content-length: 0\r\nCONTENT-LENGTH: ${length}`, version],
    ['a list of lengths', `Content-Length: ${length}, ${length}`, version],
    ['an empty length', 'Content-Length:', ''],
    ['an empty length and one more', `Content-Length:\r\nContent-Length: ${length}`, version],
    ['a length with a sign', `Content-Length: +${length}`, version],
    ['a length and chunks', `Content-Length: ${length}\r\nTransfer-Encoding: chunked`, chunks],
    ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: ${length}`, chunks],
    ['an empty coding and a length', `Transfer-Encoding:\r\nContent-Length: ${length}`, version],
    ['an empty coding', 'Transfer-Encoding:', chunks],
    ['gzip and chunks', 'Transfer-Encoding: gzip, chunked', chunks],
    ['chunks and gzip', 'Transfer-Encoding: chunked, gzip', chunks],
    ['chunks twice', 'Transfer-Encoding: chunked, chunked', chunks],
    ['another coding', 'Transfer-Encoding: identity', chunks],
    ['a coding that looks like chunks', 'Transfer-Encoding: xchunked', chunks],
    ['a coding in quotes', 'Transfer-Encoding: "chunked"', chunks],
    ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunks],
    ['chunks in two headers', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', chunks],
    ['two hosts', `Host: evil.example.org\r\nContent-Length: ${length}`, version],
    ['two equal hosts', `host: localhost\r\nContent-Length: ${length}`, version],
  ])('error: %s', async (_name, headers, body) => {
    const first = (line: string) => `${line} HTTP/1.1\r\nHost: localhost\r\n`
    const requests = [
      `${first('POST /')}Content-Type: application/json\r\n${headers}\r\n\r\n${body}${smuggled}`,
      `${first('GET /health')}${headers}\r\n\r\n${body}${smuggled}`,
      `${first('OPTIONS /')}Origin: http://localhost\r\n${headers}\r\n\r\n${body}${smuggled}`,
      `${first('PUT /')}${headers}\r\n\r\n${body}${smuggled}`,
      `${first('GET /')}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${headers}\r\n\r\n${body}${smuggled}`,
    ]
    for (const request of requests) {
      const { text, isClosed } = await exchange(port, request)
      // Closed without an answer if the rest is parsed as another request at once.
      expect([request, text, isClosed]).toEqual([request, expect.stringMatching(/^(HTTP\/1\.1 (400|505) |$)/), true])
      expect([request, text.match(/HTTP\/1\.1 \d+/g) ?? []]).toEqual([request, text === '' ? [] : [expect.anything()]])
    }
    const alone = await exchange(port, `${first('POST /')}Content-Type: application/json\r\n${headers}\r\n\r\n${body}`)
    expect([alone.text, alone.isClosed]).toEqual([expect.stringMatching(/^HTTP\/1\.1 (400|505) /), true])
    expect(alone.text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  })

  // uWebSockets reports the content of chunks but not their delimiters, so nothing after them is read.
  test.each([
    ['nothing wrong', chunks],
    ['LF behind the size', chunks.replace('\r\n', '\n')],
    ['more behind the size', chunks.replace('\r\n', ' XX\r\n')],
    ['XX behind the data', chunks.replace('}\r\n', '}XX')],
    ['LF behind the data', chunks.replace('}\r\n', '}\n')],
    ['XX behind the last chunk', chunks.replace(/\r\n$/, 'XX')],
    ['trailers', chunks.replace(/\r\n$/, 'Host: evil.example.org\r\n\r\n')],
  ])('error: a request behind chunks with %s', async (_name, body) => {
    const head =
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    for (const rest of [smuggled, smuggled.repeat(50)]) {
      const { text, isClosed } = await exchange(port, head + body + rest)
      expect((text.match(/HTTP\/1\.1 [^4]\d\d/g) ?? []).length).toBeLessThan(2)
      expect(text).not.toContain('"ready"')
      expect(isClosed).toBe(true)
    }
  })

  test('behavior: an answer of any size to chunks is whole, and the connection closes behind it', async () => {
    const headers = { ...json, 'transfer-encoding': 'chunked' }
    const params = `["0x${'00'.repeat(20)}","latest"]`
    const code = `{"id":1,"method":"eth_getCode","params":${params}}`
    for (const count of [1, 2, 49]) {
      const { headers: got, body } = await send({ headers, body: `[${Array(count).fill(code).join()}]` })
      expect(got.connection).toBe('close')
      const answer = { jsonrpc: '2.0', id: 1, result: `0x${'ab'.repeat(100_000)}` }
      expect(JSON.parse(body.toString())).toEqual(Array(count).fill(answer))
    }
    const late = connect(port, '127.0.0.1')
    let text = ''
    late.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    const head =
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    late.write(`${head}${code.length.toString(16)}\r\n${code}\r\n0\r\n\r\n`)
    await vi.waitFor(() => expect(text).toMatch(/ab"\}$/))
    late.write(smuggled)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    late.destroy()
    const none = await send({ headers, body: '{"jsonrpc":"2.0","method":"net_version"}' })
    expect([none.status, none.headers.connection, none.body.length]).toEqual([200, 'close', 0])
    const refusal = await send({ headers: { ...headers, 'content-type': 'text/plain' }, body: version })
    expect([refusal.status, refusal.headers.connection]).toEqual([415, 'close'])
  })

  test('error: no HTTP', async () => {
    const { text, isClosed } = await exchange(port, 'GARBAGE\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 (400|505) /)
    expect(isClosed).toBe(true)
  })
})

describe('status of JSON-RPC errors', () => {
  test('behavior: 200 by the document, 400 by the reference', async () => {
    const bad = { body: '{"id":1,"method":"eth_getBalance","params":["0x12"]}' }
    expect((await send(bad)).status).toBe(200)
    const headers = { ...json, host: 'rpc.example.org' }
    expect((await send({ ...bad, port: other, headers })).status).toBe(400)
    expect((await send({ port: other, headers, body: '{' })).status).toBe(400)
    expect((await send({ port: other, headers, body: '{"id":1,"method":"nope"}' })).status).toBe(200)
    expect((await send({ port: other, headers, body: `[${bad.body}]` })).status).toBe(200)
  })

  test('behavior: helpful texts by the document, plain ones by the reference', async () => {
    const body = '{"id":1,"method":"eth_getBalance","params":["0x12"]}'
    expect((await send({ body })).body.toString()).toContain('(address: expected 20 bytes')
    const plain = await send({ port: other, headers: { ...json, host: 'rpc.example.org' }, body })
    expect(JSON.parse(plain.body.toString()).error.message).toBe('Invalid address: null, empty or invalid hex value.')
  })

  test('behavior: notifications get 200 without a body', async () => {
    const { status, body } = await send({ body: '{"jsonrpc":"2.0","method":"net_version"}' })
    expect([status, body.length]).toEqual([200, 0])
  })

  test('error: a node that has too much to do says when to come again', async () => {
    const { status, headers } = await send({ body: '{"id":1,"method":"eth_gasPrice"}' })
    expect([status, headers['retry-after']]).toEqual([503, '1'])
  })

  test('error: an internal error is logged and hidden from the caller', async () => {
    expect((await rpc('eth_accounts', [])).error).toEqual({ code: -32603, message: 'Internal server error' })
    expect(String(defects.at(-1))).toContain('secret of the core')
  })
})

describe('hosts', () => {
  test.each([
    'localhost',
    '127.0.0.1:4444',
    '[::1]:4444',
    'RPC.example.org:80',
    'rpc.example.org',
  ])('behavior: Host %s', async (host) => {
    expect((await send({ port: other, headers: { ...json, host } })).status).toBe(200)
  })

  test.each(['evil.example.org', '203.0.113.9', '[2001:db8::1]'])('error: Host %s', async (host) => {
    expect((await send({ port: other, headers: { ...json, host } })).status).toBe(403)
    expect((await send({ headers: { ...json, host } })).status).toBe(200)
  })

  test('error: an empty Host', async () => {
    const request = `POST / HTTP/1.1\r\nHost: \r\nContent-Type: application/json\r\nContent-Length: ${version.length}\r\n\r\n${version}`
    expect((await exchange(other, request)).text).toMatch(/^HTTP\/1\.1 403 /)
    expect((await exchange(port, request)).text).toContain(versionAnswer)
  })
})

describe('origins', () => {
  test.each([
    'localhost',
    'http://localhost',
    'http://localhost:3000',
    'https://127.0.0.1:8080',
    'http://[::1]:3000',
    'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn',
    'moz-extension://4c9f8a1e-1111-2222-3333-0123456789ab',
    'https://remix.ethereum.org',
  ])('behavior: %s may call by default', async (origin) => {
    const { status, headers } = await send({ headers: { ...json, origin } })
    expect([status, headers['access-control-allow-origin'], headers.vary]).toEqual([200, origin, 'Origin'])
  })

  test.each(['http://example.org', 'null', 'http://localhost.evil.org'])('error: %s may not', async (origin) => {
    const { status, body } = await send({ headers: { ...json, origin } })
    expect(status).toBe(403)
    expect(JSON.parse(body.toString()).error.message).toBe('Origin not allowed')
  })

  test('behavior: whole origins and hosts in the list', async () => {
    const status = async (origin: string) =>
      (await send({ port: other, headers: { ...json, host: 'localhost', origin } })).status
    expect(await status('https://app.example.org')).toBe(200)
    expect(await status('http://app.example.org')).toBe(403)
    expect(await status('http://dev.example.org:9000')).toBe(200)
    expect(await status('http://localhost')).toBe(403)
  })

  test('behavior: a foreign Referer does not matter', async () => {
    expect((await send({ headers: { ...json, referer: 'http://example.org/page' } })).status).toBe(200)
  })

  test('behavior: preflights', async () => {
    const ask = { 'access-control-request-method': 'POST' }
    const good = await send({ method: 'OPTIONS', headers: { origin: 'http://localhost:3000', ...ask } })
    expect(good.status).toBe(204)
    expect(good.headers).toMatchObject({
      'access-control-allow-origin': 'http://localhost:3000',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'content-type, x-api-key, authorization',
      'access-control-max-age': '600',
    })
    const bad = await send({ method: 'OPTIONS', headers: { origin: 'http://example.org', ...ask } })
    expect([bad.status, bad.headers['access-control-allow-origin']]).toEqual([204, undefined])
    expect((await send({ method: 'OPTIONS', headers: {} })).status).toBe(204)
  })
})

describe('answers', () => {
  test('behavior: long answers cross as bytes', async () => {
    const who = `0x${'11'.repeat(20)}`
    expect((await rpc('eth_getCode', [who, 'latest'])).result).toHaveLength(200_002)
  })

  test('behavior: compressed on demand, where it pays', async () => {
    const body = '{"id":1,"method":"eth_getBlockByNumber","params":["latest"]}'
    const headers = { ...json, host: 'localhost', 'accept-encoding': 'gzip, br' }
    const packed = await send({ port: other, headers, body })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(gunzipSync(packed.body).toString()).result.extraData).toHaveLength(5000)
    expect((await send({ port: other, headers })).headers['content-encoding']).toBeUndefined()
    // Compression is useless on the same machine.
    expect((await send({ headers, body })).headers['content-encoding']).toBeUndefined()
  })

  test('behavior: data of a revert', async () => {
    expect((await rpc('eth_estimateGas', [{}])).error).toEqual({
      code: -32015,
      message: 'VM Exception while processing transaction: revert no',
      data: '0x08c379a0',
    })
  })

  test('behavior: a client that hangs up ends its execution', async () => {
    const before = cancelled.length
    const body = '{"id":1,"method":"eth_call","params":[{},"latest"]}'
    const outgoing = request({ host: '127.0.0.1', port, method: 'POST', headers: json })
    outgoing.on('error', () => undefined)
    outgoing.end(body)
    await new Promise((resolve) => setTimeout(resolve, 100))
    outgoing.destroy()
    await expect.poll(() => cancelled.length, { timeout: 1000 }).toBe(before + 1)
  })

  test('behavior: a batch of 50, and one of 51', async () => {
    const batch = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_none, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' })))
    const good = JSON.parse((await send({ body: batch(50) })).body.toString())
    expect(good.map((one: { id: number }) => one.id)).toEqual(Array.from({ length: 50 }, (_none, id) => id))
    const bad = JSON.parse((await send({ body: batch(51) })).body.toString())
    expect(bad).toMatchObject({ id: null, error: { code: -32600 } })
  })
})
