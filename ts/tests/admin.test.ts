import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AppView, AppWithKey, FigureReport, ListedApp, NodeReport, Refusal } from '../src/admin/shapes.ts'
import { NodeProcess, scratchFolder } from './node.ts'
import { exchange } from './rawSocket.ts'

const json = { 'content-type': 'application/json' }
const chainId = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

interface Answered<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** A node with a data directory and an admin address. */
class AdminNode {
  readonly dir = join(scratchFolder(), 'data')
  node!: NodeProcess

  async start(settings = ''): Promise<this> {
    const flags = ['--data-dir', this.dir, '--workers', '2', '--admin-port', '0', '--log-level', 'trace']
    this.node = await NodeProcess.start(flags, settings)
    return this
  }

  get url(): string {
    return this.node.adminUrl ?? ''
  }

  async ask<T = Refusal>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered<T>> {
    const isJson = body !== undefined && typeof body !== 'string'
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(body !== undefined && json), ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as T }
  }

  /** Returns the statuses of requests over several connections, so that all workers are reached. */
  async statuses(key: string): Promise<number[]> {
    const once = async () => {
      const headers = { ...json, connection: 'close' }
      return (await fetch(`${this.node.url}/${key}`, { method: 'POST', headers, body: chainId })).status
    }
    return [...new Set(await Promise.all(Array.from({ length: 12 }, once)))]
  }
}

describe('the admin API', () => {
  const admin = new AdminNode()
  const secrets: string[] = []

  beforeAll(() => admin.start())
  afterAll(() => admin.node.stop())

  test('behavior: a node without apps is open, and says so', async () => {
    const { status, headers, body } = await admin.ask<NodeReport>('GET', '/api/node')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({
      network: 'regtest',
      workers: 2,
      url: admin.node.url,
      access: { isOpen: true, staysOpen: false, keepsApps: true },
      health: { ready: true, head: { number: 0 }, lagBlocks: 0, reasons: [] },
      requests: { count: 0, p50Ms: null, p99Ms: null },
    })
    expect((await admin.ask('GET', '/api/apps')).body).toEqual({ apps: [] })
  })

  test('behavior: from creation to revocation, at once in all workers', async () => {
    const given = { name: 'dex', description: 'd', useCase: 'DeFi', expiresAt: '2999-12-31' }
    const { status, headers, body } = await admin.ask<AppWithKey>('POST', '/api/apps', given)
    const { app, key, urls } = body
    secrets.push(key)
    expect([status, headers.get('location')]).toEqual([201, '/api/apps/dex'])
    expect(app).toMatchObject({
      name: 'dex',
      network: 'regtest',
      state: 'active',
      keys: [{ expiresAt: '2999-12-31T00:00:00.000Z' }],
    })
    expect(urls).toEqual({
      http: `${admin.node.url}/${key}`,
      httpV2: `${admin.node.url}/v2/${key}`,
      webSocket: `${admin.node.url.replace('http', 'ws')}/${key}`,
      webSocketV2: `${admin.node.url.replace('http', 'ws')}/v2/${key}`,
    })
    // No polling: when the answer arrives, the key is valid at all workers, and no other key is.
    expect([await admin.statuses(key), await admin.statuses('')]).toEqual([[200], [401]])
    expect((await admin.ask<NodeReport>('GET', '/api/node')).body.access.isOpen).toBe(false)

    const kept = (await admin.ask<AppWithKey>('POST', '/api/apps/dex/rotate', { keepSeconds: 60 })).body
    const next = (await admin.ask<AppWithKey>('POST', '/api/apps/dex/rotate', {})).body
    secrets.push(kept.key, next.key)
    expect(kept.app.keys).toHaveLength(2)
    expect([await admin.statuses(key), await admin.statuses(kept.key), await admin.statuses(next.key)]).toEqual([
      [401],
      [401],
      [200],
    ])

    const revoked = await admin.ask<AppView>('DELETE', '/api/apps/dex')
    expect([revoked.status, revoked.body.state, revoked.body.keys]).toEqual([200, 'revoked', []])
    expect(await admin.statuses(next.key)).toEqual([401])
    expect((await admin.ask('DELETE', '/api/apps/dex')).status).toBe(200)
  })

  test('behavior: an edit changes only the named members', async () => {
    const limits = { unitsPerSecond: 10, burst: 20, dailyUnits: 1000, monthlyUnits: null, concurrency: 4 }
    const allow = { methods: ['eth_*'], sources: ['10.0.0.0/8', '::1'] }
    const made = (
      await admin.ask<AppWithKey>('POST', '/api/apps', { name: 'edited', useCase: 'wallet', limits, allow })
    ).body
    secrets.push(made.key)
    expect(made.app).toMatchObject({ limits, allow })
    const edit = { description: 'new', limits: { dailyUnits: null }, allow: { methods: [] } }
    const { status, body } = await admin.ask<AppView>('PATCH', '/api/apps/edited', edit)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...made.app,
      description: 'new',
      limits: { ...limits, dailyUnits: null },
      allow: { ...made.app.allow, methods: [] },
    })
    const unused = { requests: 0, units: 0, errors: 0, refused: 0 }
    const listed = { ...body, usage: { today: unused, month: unused } }
    expect((await admin.ask('GET', '/api/apps/edited')).body).toEqual(listed)
    expect((await admin.ask<{ apps: AppView[] }>('GET', '/api/apps')).body.apps).toContainEqual(listed)
  })

  test('behavior: usage is reported, and an edited limit applies at once', async () => {
    const made = (await admin.ask<AppWithKey>('POST', '/api/apps', { name: 'metered', limits: { dailyUnits: 3 } })).body
    secrets.push(made.key)
    const call = async () =>
      (await fetch(`${admin.node.url}/${made.key}`, { method: 'POST', headers: json, body: chainId })).status
    expect([await call(), await call(), await call(), await call()]).toEqual([200, 200, 200, 429])
    const usage = async () => (await admin.ask<ListedApp>('GET', '/api/apps/metered')).body.usage
    const used = { requests: 3, units: 3, errors: 0, refused: 1 }
    await expect.poll(usage).toEqual({ today: used, month: used })
    await admin.ask('PATCH', '/api/apps/metered', { limits: { dailyUnits: 4 } })
    expect([await call(), await call()]).toEqual([200, 429])
    await admin.ask('PATCH', '/api/apps/metered', { allow: { methods: ['eth_call'] }, limits: { dailyUnits: null } })
    expect(await call()).toBe(403)
  })

  test('behavior: the figures contain requests, methods and errors', async () => {
    const { key } = (await admin.ask<AppWithKey>('POST', '/api/apps', { name: 'caller' })).body
    secrets.push(key)
    const call = async (method: string, params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      await (await fetch(`${admin.node.url}/${key}`, { method: 'POST', headers: json, body })).text()
    }
    for (let turn = 0; turn < 20; turn++) await call('eth_gasPrice', [])
    await call('eth_getBalance', ['nobody'])
    await call('made_up', [])
    await call('evm_mine', [])
    const { body } = await admin.ask<NodeReport>('GET', '/api/node')
    const of = (method: string) => body.methods.find((one) => one.method === method)
    expect(of('eth_gasPrice')).toMatchObject({ count: 20, errors: 0 })
    expect(of('eth_gasPrice')?.p99Ms).toBeGreaterThan(0)
    expect(of('eth_getBalance')).toMatchObject({ count: 1, errors: 1 })
    expect(of('other')).toMatchObject({ count: 1, errors: 1 })
    expect(body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ code: -32602, count: 1 })]))
    expect(body.health.head).toMatchObject({ number: 1 })
    expect(body.memory.residentBytes).toBeGreaterThan(1e6)
    expect(JSON.stringify(body)).not.toContain('made_up')
  })

  const wrong: [string, string, unknown, number, string, string?][] = [
    ['POST', '/api/apps', {}, 400, 'invalid', 'name'],
    ['POST', '/api/apps', { name: '../x' }, 400, 'invalid', 'name'],
    ['POST', '/api/apps', { name: 'a'.repeat(65) }, 400, 'invalid', 'name'],
    ['POST', '/api/apps', { name: 5 }, 400, 'invalid', 'name'],
    ['POST', '/api/apps', { name: 'x', description: 'two\nlines' }, 400, 'invalid', 'description'],
    ['POST', '/api/apps', { name: 'x', description: 'a'.repeat(201) }, 400, 'invalid', 'description'],
    ['POST', '/api/apps', { name: 'x', expiresAt: '2001-01-01' }, 400, 'invalid', 'expiresAt'],
    ['POST', '/api/apps', { name: 'x', expiresAt: '2030-99-99' }, 400, 'invalid', 'expiresAt'],
    ['POST', '/api/apps', { name: 'x', key: 'rz_mine' }, 400, 'invalid', 'key'],
    ['POST', '/api/apps', { name: 'x', network: 'mainnet' }, 400, 'invalid', 'network'],
    ['POST', '/api/apps', '{"name":"x","__proto__":{"isAdmin":true}}', 400, 'invalid', '__proto__'],
    ['POST', '/api/apps', { name: 'x', limits: { unitsPerSecond: -1 } }, 400, 'invalid', 'limits.unitsPerSecond'],
    ['POST', '/api/apps', { name: 'x', limits: { burst: 5 } }, 400, 'invalid', 'limits.burst'],
    ['POST', '/api/apps', { name: 'x', limits: { perYear: 5 } }, 400, 'invalid', 'limits.perYear'],
    ['POST', '/api/apps', { name: 'x', limits: [] }, 400, 'invalid', 'limits'],
    ['POST', '/api/apps', { name: 'x', allow: { sources: ['10.0.0.0/99'] } }, 400, 'invalid', 'allow.sources[0]'],
    ['POST', '/api/apps', { name: 'x', allow: { methods: ['eth_*', 7] } }, 400, 'invalid', 'allow.methods.1'],
    ['POST', '/api/apps', { name: 'x', jwt: { isRequired: true } }, 400, 'invalid', 'jwt.isRequired'],
    [
      'POST',
      '/api/apps',
      { name: 'x', jwt: { keys: [{ kid: 'a', publicKey: 'MIIsecretsecret' }] } },
      400,
      'invalid',
      'jwt.keys[0].publicKey',
    ],
    ['POST', '/api/apps', { name: 'edited' }, 409, 'taken', 'name'],
    ['POST', '/api/apps', { name: 'dex' }, 409, 'taken', 'name'],
    ['POST', '/api/apps', 'nothing', 400, 'json'],
    ['POST', '/api/apps', '', 400, 'json'],
    ['POST', '/api/apps', '[]', 400, 'invalid'],
    ['POST', '/api/apps', 'null', 400, 'invalid'],
    ['POST', '/api/apps', '['.repeat(100_000), 400, 'json'],
    ['POST', '/api/apps', { name: 'x', description: 'a'.repeat(2 ** 20) }, 413, 'tooLarge'],
    ['PATCH', '/api/apps/edited', { name: 'other' }, 400, 'invalid', 'name'],
    ['PATCH', '/api/apps/edited', { revokedAt: null }, 400, 'invalid', 'revokedAt'],
    ['PATCH', '/api/apps/edited', { keys: [] }, 400, 'invalid', 'keys'],
    ['PATCH', '/api/apps/dex', { description: 'x' }, 409, 'revoked', 'name'],
    ['PATCH', '/api/apps/nobody', { description: 'x' }, 404, 'unknown'],
    ['POST', '/api/apps/dex/rotate', {}, 409, 'revoked', 'name'],
    ['POST', '/api/apps/nobody/rotate', {}, 404, 'unknown'],
    ['POST', '/api/apps/edited/rotate', { keepSeconds: -1 }, 400, 'invalid', 'keepSeconds'],
    ['POST', '/api/apps/edited/rotate', { keepSeconds: 1.5 }, 400, 'invalid', 'keepSeconds'],
    ['POST', '/api/apps/edited/rotate', { keepSeconds: '9' }, 400, 'invalid', 'keepSeconds'],
    ['GET', '/api/apps/nobody', undefined, 404, 'unknown'],
    ['DELETE', '/api/apps/nobody', undefined, 404, 'unknown'],
    ['DELETE', '/api/apps', undefined, 405, 'method'],
    ['PUT', '/api/apps/edited', {}, 405, 'method'],
    ['POST', '/api/node', {}, 405, 'method'],
    ['POST', '/', {}, 405, 'method'],
    ['OPTIONS', '/api/apps', undefined, 405, 'method'],
    ['GET', '/api', undefined, 404, 'path'],
    ['GET', '/api/apps/', undefined, 404, 'path'],
    ['GET', '/api/apps/constructor', undefined, 404, 'unknown'],
    ['GET', '/api/apps/__proto__', undefined, 404, 'path'],
    ['GET', '/api/apps/%2e%2e%2fapps.json', undefined, 404, 'path'],
    ['GET', '/api/apps/a%00', undefined, 404, 'path'],
    ['GET', '/apps.json', undefined, 404, 'path'],
    ['GET', '/page.css.map', undefined, 404, 'path'],
  ]

  test.each(
    wrong.map(([method, path, ...rest], index) => [method, path, index, ...rest] as const),
  )('error: %s %s, case %i', async (method, path, _index, body, status, code, member) => {
    const before = readFileSync(join(admin.dir, 'apps.json'), 'utf8')
    const answered = await admin.ask(method, path, body)
    expect([answered.status, answered.body.error.code, answered.body.error.member]).toEqual([status, code, member])
    expect(answered.body.error.message).not.toMatch(/secret|undefined|\[object/)
    if (status === 405) expect(answered.headers.get('allow')).toMatch(/GET|POST/)
    expect(readFileSync(join(admin.dir, 'apps.json'), 'utf8')).toBe(before)
  })

  test('behavior: a missing key is counted as a refusal, over HTTP and WebSocket', async () => {
    const count = async () => {
      const { refusals } = (await admin.ask<NodeReport>('GET', '/api/node')).body
      return refusals.find(({ status }) => status === 401)?.count ?? 0
    }
    const before = await count()
    expect(await admin.statuses('')).toEqual([401])
    const upgrade =
      'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
    expect((await exchange(Number(new URL(admin.node.url).port), upgrade)).text).toMatch(/^HTTP\/1\.1 401 /)
    expect(await count()).toBe(before + 13)
  })

  test.each([
    ['', 400, 'range'],
    ['?range=year', 400, 'range'],
    ['?range=day&app=nobody', 404, undefined],
    ['?range=day&app=../node', 404, undefined],
  ])('error: figures asked for with %s', async (query, status, member) => {
    const answer = await admin.ask('GET', `/api/figures${query}`)
    expect([answer.status, answer.body.error.member]).toEqual([status, member])
  })

  test('error: paths that leave the folder of the page, sent as they are', async () => {
    const port = Number(new URL(admin.url).port)
    for (const path of [
      '/../cli.js',
      '/..%2fcli.js',
      '//etc/passwd',
      '/./../../package.json',
      '/page/../../worker.js',
      '*',
      'http://a/../x',
    ]) {
      const { text } = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 (404|400) /)
      expect(text).not.toMatch(/root:|"version"|import /)
    }
  })

  const strangers: [string, Record<string, string>, number][] = [
    ['a page of elsewhere', { origin: 'https://evil.example.org' }, 403],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['a form of elsewhere that hides its origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of a sister name', { 'sec-fetch-site': 'same-site' }, 403],
    ['a form without preflight', { 'content-type': 'text/plain' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a type that only looks like it', { 'content-type': 'application/json-patch+json' }, 415],
  ]

  test.each(strangers)('error: %s changes nothing', async (_who, headers, status) => {
    const answered = await admin.ask('POST', '/api/apps', '{"name":"stolen"}', headers)
    expect(answered.status).toBe(status)
    expect(answered.headers.get('access-control-allow-origin')).toBeNull()
    expect((await admin.ask('GET', '/api/apps/stolen')).status).toBe(404)
  })

  test('error: a name that points here', async () => {
    const port = Number(new URL(admin.url).port)
    for (const path of ['/', '/api/node', '/api/apps']) {
      const { text } = await exchange(
        port,
        `GET ${path} HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1\.1 403 /)
      expect(text).not.toContain('dex')
    }
    for (const [head, status] of [
      ['GET /api/apps HTTP/1.1\r\n', 400],
      ['GET /api/apps HTTP/1.0\r\n', 403],
      ['GET /api/apps HTTP/1.1\r\nHost:\r\n', 403],
      ['GET / HTTP/1.1\r\nHost: \r\n', 403],
      ['GET /api/apps HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.org\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n', 400],
    ]) {
      const { text } = await exchange(port, `${head}Connection: close\r\n\r\n`)
      expect([head, text]).toEqual([head, expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `))])
      expect(text).not.toContain('dex')
    }
  })

  test('error: bodies that are not UTF-8, end early, or never end', async () => {
    const invalid = await fetch(`${admin.url}/api/apps`, {
      method: 'POST',
      headers: json,
      body: Buffer.from('{"name":"\xff"}', 'latin1'),
    })
    expect(invalid.status).toBe(400)
    const port = Number(new URL(admin.url).port)
    const head = 'POST /api/apps HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    const cut = connect(port, '127.0.0.1')
    cut.write(`${head}Content-Length: 100\r\n\r\n{"name":"cut"`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    cut.destroy()
    const { text } = await exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect((await admin.ask('GET', '/api/apps/cut')).status).toBe(404)
    expect(admin.node.errors).not.toContain('internal error')
  })

  test('behavior: concurrent changes are all applied', async () => {
    const names = Array.from({ length: 60 }, (_none, index) => `same-time-${index}`)
    const made = await Promise.all(names.map((name) => admin.ask<AppWithKey>('POST', '/api/apps', { name })))
    expect(made.map(({ status }) => status)).toEqual(names.map(() => 201))
    const keys = made.filter((_one, index) => index % 10 === 0).map(({ body }) => body.key)
    for (const key of keys) expect(await admin.statuses(key)).toEqual([200])
    const { apps } = (await admin.ask<{ apps: AppView[] }>('GET', '/api/apps')).body
    expect(names.filter((name) => !apps.some((app) => app.name === name))).toEqual([])
  })

  test('behavior: a damaged store is reported without its content', async () => {
    const file = join(admin.dir, 'apps.json')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.slice(0, -20))
    const answered = await admin.ask('POST', '/api/apps', { name: 'late' })
    expect([answered.status, answered.body.error.code]).toEqual([503, 'store'])
    expect(answered.body.error.message).not.toContain('dex')
    writeFileSync(file, before)
    expect((await admin.ask('GET', '/api/apps')).status).toBe(200)
  })

  test('behavior: no key is stored, listed or logged; each change is logged', async () => {
    const shown = JSON.stringify((await admin.ask('GET', '/api/apps')).body)
    const kept = readFileSync(join(admin.dir, 'apps.json'), 'utf8') + admin.node.errors + shown
    expect(secrets.length).toBeGreaterThan(3)
    for (const key of secrets) expect(kept).not.toContain(key.slice(3, 20))
    expect(shown).not.toMatch(/[0-9a-f]{64}/)
    for (const action of ['created', 'edited', 'rotated', 'revoked'])
      expect(admin.node.errors).toContain(`"action":"${action}"`)
  })

  test('behavior: the page is served with a policy that loads nothing foreign', async () => {
    for (const [path, type] of Object.entries({
      '/': 'text/html',
      '/page.js': 'text/javascript',
      '/page.css': 'text/css',
      '/icon.svg': 'image/svg+xml',
    })) {
      const response = await fetch(`${admin.url}${path}`)
      expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([200, type])
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      const text = await response.text()
      if (path === '/')
        expect(text).not.toMatch(/\bstyle=|\bon\w+=|(src|href)="(?![/#])|<script(?! type="module" src="\/page\.js">)/)
      if (path === '/page.css') expect(text).not.toMatch(/url\(|@import/)
      if (path === '/page.js')
        expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bimport\b/)
    }
  })
})

describe('a node with an admin token', () => {
  const token = 'the-token-of-this-test-0123456789'
  const file = join(mkdtempSync(join(tmpdir(), 'rhizome-test-')), 'token')
  const admin = new AdminNode()

  beforeAll(() => {
    writeFileSync(file, `${token}\n`)
    return admin.start(`admin.tokenFile = ${JSON.stringify(file)}\n`)
  })
  afterAll(() => admin.node.stop())

  const tokens = ['', token.slice(1), `${token}x`, token.toUpperCase(), 'x'.repeat(100_00)]

  test('error: without it every request is refused', async () => {
    for (const one of tokens) {
      const headers: Record<string, string> = one === '' ? {} : { authorization: `Bearer ${one}` }
      for (const [method, path, body] of [
        ['GET', '/api/node'],
        ['GET', '/api/apps'],
        ['POST', '/api/apps', { name: 'x' }],
        ['GET', '/api/anything'],
      ] as const) {
        const answered = await admin.ask(method, path, body, headers)
        expect([answered.status, answered.body.error.code]).toEqual([401, 'token'])
        expect(answered.headers.get('www-authenticate')).toBe('Bearer')
      }
    }
    expect((await admin.ask('GET', '/api/node', undefined, { authorization: `Basic ${token}` })).status).toBe(401)
    expect((await fetch(`${admin.url}/api/node?token=${token}`)).status).toBe(401)
  })

  test('behavior: with it all is, and the page needs none', async () => {
    const headers = { authorization: `Bearer ${token}` }
    expect((await admin.ask('GET', '/api/node', undefined, headers)).status).toBe(200)
    expect((await admin.ask('POST', '/api/apps', { name: 'x' }, headers)).status).toBe(201)
    expect((await fetch(admin.url)).status).toBe(200)
    expect(admin.node.errors).not.toContain(token.slice(0, 12))
  })
})

// Other processes slow down the start of nodes.
describe('the admin address', { timeout: 60_000 }, () => {
  const start = (settings: string) =>
    NodeProcess.start(['--workers', '1'], `admin.enabled = true\nadmin.port = 0\n${settings}`)

  test('error: others reach it only with a token', async () => {
    const outside = 'admin.host = "0.0.0.0"\n'
    await expect(start(outside)).rejects.toThrow(
      /ended with 2: rhizome: admin\.host: other machines can reach 0\.0\.0\.0: set admin\.tokenFile/,
    )
  })

  test('error: an address that is in use', async () => {
    const node = await start('')
    const port = new URL(node.adminUrl ?? '').port
    await expect(NodeProcess.start(['--admin-port', port])).rejects.toThrow(
      /admin: cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/,
    )
    await node.stop()
  })

  test('behavior: figures over time, of the node and of an app, survive a restart', async () => {
    const other = await new AdminNode().start()
    const { key } = (await other.ask<AppWithKey>('POST', '/api/apps', { name: 'charted' })).body
    expect(await other.statuses(key)).toEqual([200])
    await other.node.stop()
    await other.start()
    const requests = async (query: string) => {
      const { status, body } = await other.ask<FigureReport>('GET', `/api/figures?${query}`)
      expect(status).toBe(200)
      return body.methods.map(({ method, requests }) => [method, requests.reduce((sum, one) => sum + one, 0)])
    }
    for (const range of ['hour', 'day', 'month']) {
      expect(await requests(`range=${range}&app=charted`)).toEqual([
        ['all', 12],
        ['eth_chainId', 12],
      ])
      expect(Object.fromEntries(await requests(`range=${range}`)).eth_chainId).toBeGreaterThanOrEqual(12)
    }
    await other.node.stop()
  })

  test('behavior: disabled by default; an ephemeral node has no apps', async () => {
    const plain = await NodeProcess.start(['--workers', '1'])
    expect(plain.adminUrl).toBeUndefined()
    await plain.stop()
    const node = await start('')
    const ask = async (method: string, body?: string) => {
      const response = await fetch(`${node.adminUrl}/api/apps`, {
        method,
        headers: json,
        ...(body !== undefined && { body }),
      })
      return [response.status, await response.json()]
    }
    expect(await ask('GET')).toEqual([200, { apps: [] }])
    expect(await ask('POST', '{"name":"x"}')).toMatchObject([409, { error: { code: 'ephemeral' } }])
    const report = (await (await fetch(`${node.adminUrl}/api/node`)).json()) as NodeReport
    expect(report.access).toEqual({ isOpen: true, staysOpen: false, keepsApps: false })
    await node.stop()
  })
})
