import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'
import { shakenHands } from './webSocket.ts'

// Bytes that no client sends: each is refused or its connection closed, other clients are served meanwhile, and the log, at
// its most detailed level, contains no secret.

const dataDir = scratchFolder()
const version = '{"jsonrpc":"2.0","id":1,"method":"net_version"}'
const wrongKey = `rz_${'Zq7'.repeat(14)}x`
let node: NodeProcess
let key = ''
let port = 0

beforeAll(async () => {
  const made = await runCommand(['keys', 'create', 'attacked', '--data-dir', dataDir, '--json'])
  key = (JSON.parse(made.output) as { key: string }).key
  const flags = ['--data-dir', dataDir, '--workers', '2', '--log-level', 'trace']
  node = await NodeProcess.start(flags, '[rpc]\nslowMs = 0\n[http]\nbodyMs = 1000\n')
  port = Number(new URL(node.url).port)
})
afterAll(async () => {
  expect(await ask()).toBe(200)
  expect(await node.stop()).toBe(0)
  const log = node.errors
  expect(log.split('\n').length).toBeGreaterThan(50)
  for (const secret of [key, key.slice(3, 20), wrongKey, wrongKey.slice(3, 20), 'hunter2', 'sesame']) {
    expect(log.includes(secret), secret.slice(0, 3)).toBe(false)
  }
  expect(log).not.toContain('internal error')
})

/** Returns the status of a valid request. */
async function ask(): Promise<number> {
  const response = await fetch(`${node.url}/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: version,
  })
  await response.arrayBuffer()
  return response.status
}

interface Outcome {
  /** Statuses of the answers. */
  readonly statuses: readonly number[]
  readonly text: string
  readonly isClosed: boolean
}

/** Sends bytes and waits until the connection is closed or quiet. */
function send(bytes: string | Buffer, to = port, quietMs = 400): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect(to, '127.0.0.1')
    let text = ''
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]))
      resolve({ statuses, text, isClosed })
    }
    let timer = setTimeout(() => finish(false), 20_000)
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), quietMs)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    socket.write(bytes)
  })
}

const request = (headers: string, body = '', first = `POST /${key} HTTP/1.1`) =>
  `${first}\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`
const good = () => request(`Content-Length: ${version.length}`, version)

describe('HTTP', () => {
  // uWebSockets takes some of them for an incomplete head, and waits 10 seconds for the rest.
  test.concurrent.each<[name: string, bytes: () => string | Buffer, statuses: number[], isClosed: boolean]>([
    ['nothing but line ends', () => '\r\n\r\n\r\n\r\n', [], true],
    [
      'bytes of any value',
      () => Buffer.from(Array.from({ length: 4096 }, (_none, index) => (index * 7) % 256)),
      [],
      true,
    ],
    ['garbage behind a good request', () => `${good()}\u0001\u0002 garbage\r\n\r\n`, [200, 505], true],
    ['a good request behind garbage', () => `garbage\r\n\r\n${good()}`, [], true],
    ['a URL with a host', () => good().replace(' /', ' http://a/'), [], true],
    ['a URL that is a star', () => request('', '', 'OPTIONS * HTTP/1.1'), [], true],
    ['no URL', () => request('', '', 'POST HTTP/1.1'), [], true],
    ['HTTP/1.0', () => good().replace('1.1', '1.0'), [505], true],
    ['HTTP/2 without a handshake', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [], true],
    ['no Host', () => good().replace('Host: a\r\n', ''), [400], true],
    ['a length that is no number', () => request('Content-Length: 5x', version), [400], true],
    ['a negative length', () => request('Content-Length: -1', version), [400], true],
    ['a length beyond all numbers', () => request(`Content-Length: ${'9'.repeat(30)}`, version), [413, 400], true],
    ['length and chunks', () => request('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), [400], true],
    ['chunks of no size', () => request('Transfer-Encoding: chunked', 'zz\r\n'), [400], true],
    ['a chunk of 2^64 bytes', () => request('Transfer-Encoding: chunked', `${'f'.repeat(16)}\r\n{`), [400], true],
    [
      'a chunk longer than it says',
      () => request('Transfer-Encoding: chunked', `1\r\n${version}\r\n0\r\n\r\n`),
      [400],
      true,
    ],
    ['a header without name', () => request(': hunter2', version), [400, 505], true],
    ['a header without colon', () => request('hunter2', version), [], true],
    ['a NUL in a header', () => request('x-api-key: \u0000hunter2', version), [], true],
    ['a NUL in the URL', () => request('', '', `POST /hunter2\u0000${key} HTTP/1.1`), [], true],
    ['a line end in a header', () => request('x-a: b\nhunter2: c', version), [], true],
    ['a header that goes on in the next line', () => request('x-a: b\r\n hunter2', version), [], true],
    ['a header of 20 KB', () => request(`x-api-key: hunter2${'x'.repeat(20_000)}`), [401], false],
    ['5000 headers', () => request('a:b\r\n'.repeat(5000).trimEnd()), [431], true],
    ['a URL of 20 KB', () => request('', '', `POST /${'hunter2'.repeat(3000)} HTTP/1.1`), [401], false],
    ['a head without end', () => `POST / HTTP/1.1\r\nx-a: ${'x'.repeat(100_000)}`, [431], true],
    ['no key', () => request('', '', 'POST / HTTP/1.1'), [401], false],
    ['a wrong key', () => request('', '', `POST /${wrongKey} HTTP/1.1`), [401], false],
    ['a key in the query', () => request('', '', `POST /?key=${key} HTTP/1.1`), [401], false],
    ['a path that climbs', () => request('', '', `POST /v2/../../etc/passwd HTTP/1.1`), [401], false],
    ['an encoded path that climbs', () => request('', '', `POST /%2e%2e%2f${key} HTTP/1.1`), [401], false],
    ['a line end in the key', () => request('', '', `POST /${key}%0d%0aSet-Cookie:%20sesame HTTP/1.1`), [401], false],
    ['a key with more behind it', () => request('', '', `POST /${key}x HTTP/1.1`), [401], false],
    ['a wrong key in the header', () => request(`x-api-key: ${wrongKey}`), [401], false],
    ['a wrong key in the header and a good one in the URL', () => request(`x-api-key: ${wrongKey}`), [401], false],
    ['a method in small letters', () => request('', '', `post /${key} HTTP/1.1`), [405], false],
    ['a method of 2 KB', () => request('', '', `${'B'.repeat(2000)} /${key} HTTP/1.1`), [405], false],
    ['a body that never comes', () => request('Content-Length: 100'), [408], true],
    ['a good request', good, [200], false],
  ])('error: %s', async (_name, bytes, statuses, isClosed) => {
    const [outcome, other] = await Promise.all([send(bytes()), ask()])
    expect(other).toBe(200)
    expect(outcome.isClosed).toBe(isClosed)
    if (statuses.length === 0) expect(outcome.statuses.every((status) => status >= 400)).toBe(true)
    else expect(statuses).toContain(outcome.statuses[0])
    expect(outcome.text).not.toMatch(/hunter2|sesame|rz_/)
  })
})

describe('bodies', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const post = async (body: string | Buffer) => {
    const bytes = Buffer.from(body)
    const head = request(`Content-Length: ${bytes.length}`)
    const { text } = await send(Buffer.concat([Buffer.from(head), bytes]))
    return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as unknown
  }
  test.each<[string, () => string | Buffer, number]>([
    ['100,000 levels', () => deep(100_000), -32600],
    ['100,000 levels of objects', () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, -32600],
    ['100,000 levels as parameter', () => `{"id":1,"method":"net_version","params":[${deep(100_000)}]}`, -32600],
    ['levels without end', () => '['.repeat(1_000_000), -32700],
    ['invalid UTF-8', () => Buffer.from('{"id":1,"method":"net_\xff\xfe"}', 'latin1'), -32700],
    ['half a surrogate', () => '{"id":1,"method":"\\ud800"}', -32601],
    ['a NUL', () => '{"id":1,"method":"net_version\u0000"}', -32700],
    ['a number of 100,000 digits as id', () => `{"id":${'9'.repeat(100_000)},"method":"nope"}`, -32601],
    ['a method of 1 MB', () => `{"id":1,"method":"${'noSuch'.repeat(150_000)}"}`, -32601],
    ['__proto__', () => '{"__proto__":{"method":"net_version"},"id":1}', -32600],
  ])('error: %s', async (_name, body, code) => {
    expect(await post(body())).toMatchObject({ error: { code } })
    expect(await ask()).toBe(200)
  })

  test('behavior: the same id twice gets two answers', async () => {
    const batch = '[{"id":7,"method":"net_version"},{"id":7,"method":"eth_chainId"},{"id":7,"method":"nope"}]'
    expect(await post(batch)).toMatchObject([
      { id: 7, result: '33' },
      { id: 7, result: '0x21' },
      { id: 7, error: { code: -32601 } },
    ])
  })
})

test('behavior: a request followed by a half close is answered if the answer is ready', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.end(good())
  await new Promise((resolve) => socket.on('close', resolve).on('end', resolve).on('error', resolve))
  socket.destroy()
  expect(text).toContain('"result":"33"')
})

describe('WebSocket frames', () => {
  const frame = (hex: string) => Buffer.from(hex, 'hex')
  const mask = '00000000'
  test.each<[string, Buffer]>([
    ['a reserved bit', frame(`c182${mask}7b7d`)],
    ['an unknown kind', frame(`8382${mask}7b7d`)],
    ['a continuation of nothing', frame(`8082${mask}7b7d`)],
    ['a ping in pieces', frame(`0981${mask}41`)],
    ['a ping of 200 bytes', Buffer.concat([frame(`89fe00c8${mask}`), Buffer.alloc(200)])],
    ['2^63 bytes', frame(`81ff7fffffffffffffff${mask}`)],
    ['12 MB', frame(`81ff0000000000b71b00${mask}`)],
    ['a new message within another', frame(`0182${mask}7b7d8182${mask}7b7d`)],
    ['a close with half a code', frame(`8881${mask}03`)],
    ['a close with a code that is none', frame(`8882${mask}0001`)],
    ['text that is not UTF-8', frame(`8182${mask}fffe`)],
  ])('error: %s', async (_name, bytes) => {
    const { socket, closed, received } = await shakenHands(`${node.url}/${key}`)
    socket.write(bytes)
    await closed
    expect(received().toString('latin1')).not.toContain('result')
    expect(await ask()).toBe(200)
  })

  test('error: a message in pieces without end', async () => {
    const { socket, closed } = await shakenHands(`${node.url}/${key}`)
    const piece = Buffer.concat([frame(`00ff0000000000010000${mask}`), Buffer.alloc(65_536, 0x20)])
    socket.write(frame(`0181${mask}5b`))
    const flood = setInterval(() => socket.write(piece), 1)
    await closed
    clearInterval(flood)
    expect(await ask()).toBe(200)
  })
})
