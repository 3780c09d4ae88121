import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createPublicClient, http, webSocket } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashOf, newApiKey } from '../src/auth/apiKey.ts'
import { createApp, type NewApp, revokeApp } from '../src/auth/app.ts'
import { FileStore } from '../src/auth/fileStore.ts'
import { NodeProcess, type ProgramResult, runCommand, scratchFolder } from './node.ts'
import { exchange } from './rawSocket.ts'
import { Client } from './webSocket.ts'

const json = { 'content-type': 'application/json' }
const mine = '{"jsonrpc":"2.0","id":7,"method":"evm_mine","params":[]}'
const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Must be authenticated!"}}'

interface PrintedApp {
  name: string
  key: string
  state: string
  urls: Record<'http' | 'httpV2' | 'webSocket' | 'webSocketV2', string>
}

/** A data directory with apps. */
class KeysFolder {
  readonly dir = join(scratchFolder(), 'data')
  readonly file = join(this.dir, 'apps.json')
  readonly secrets: string[] = []

  run(...parameters: string[]): Promise<ProgramResult> {
    return runCommand(['keys', ...parameters, '--data-dir', this.dir])
  }

  async json(...parameters: string[]): Promise<PrintedApp> {
    const { code, output, errors } = await this.run(...parameters, '--json')
    if (code !== 0) throw new Error(errors)
    const shown = JSON.parse(output) as PrintedApp
    if (shown.key !== undefined) this.secrets.push(shown.key)
    return shown
  }

  /** Adds an app with a key that no command would create. */
  async addKey(terms: Partial<NewApp>, now = Date.now()): Promise<string> {
    const app = { name: `app${now}`, description: '', useCase: '', network: 'regtest', expiresAt: null, ...terms }
    const { key } = await new FileStore(this.file).change((apps) => createApp(apps, app, now))
    this.secrets.push(key)
    return key
  }

  start(...flags: string[]): Promise<NodeProcess> {
    return NodeProcess.start(['--data-dir', this.dir, '--workers', '2', ...flags])
  }
}

/** Returns the HTTP status over a new connection, so that the requests reach all workers. */
async function post(url: string, headers: Record<string, string> = {}, body = mine): Promise<[number, string]> {
  const response = await fetch(url, { method: 'POST', headers: { ...json, connection: 'close', ...headers }, body })
  return [response.status, (await response.text()).trim()]
}

async function eventually<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (const until = Date.now() + 10_000; ; ) {
    const answer = await ask()
    if (wanted(answer) || Date.now() > until) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Returns the statuses of requests over several connections. */
async function statuses(url: string): Promise<number[]> {
  const all = await Promise.all(
    Array.from({ length: 12 }, () => post(url, {}, mine.replace('evm_mine', 'eth_chainId'))),
  )
  return [...new Set(all.map(([status]) => status))]
}

describe('a node with keys', () => {
  const folder = new KeysFolder()
  let node: NodeProcess
  let good: PrintedApp
  const bad: Record<string, string> = {}

  beforeAll(async () => {
    good = await folder.json('create', 'wallet', '--description', 'a wallet', '--use-case', 'wallet')
    bad.revoked = (await folder.json('create', 'gone')).key
    await folder.json('revoke', 'gone')
    bad.rotated = (await folder.json('create', 'turned')).key
    await folder.json('rotate', 'turned')
    bad.expired = await folder.addKey({ expiresAt: 2000 }, 1000)
    bad['of another network'] = await folder.addKey({ network: 'mainnet' })
    bad.unknown = newApiKey()
    bad['alike at the start'] = `${good.key.slice(0, 45)}${good.key.endsWith('A') ? 'E' : 'A'}`
    bad['too long'] = `${good.key}A`
    bad['in other case'] = good.key.toLowerCase()
    bad['the hash'] = hashOf(good.key).toString('hex')
    bad.escaped = good.key.replace('rz_', 'rz%5F')
    bad.missing = ''
    node = await folder.start('--log-level', 'trace')
  })
  afterAll(() => node.stop())

  const kinds = ['revoked', 'rotated', 'expired', 'of another network', 'unknown', 'alike at the start', 'too long']
  const odd = ['in other case', 'the hash', 'escaped', 'missing']
  const ways: Record<string, (key: string) => { path: string; headers: Record<string, string> }> = {
    'last segment': (key) => ({ path: `/${key}`, headers: {} }),
    'segment behind v2': (key) => ({ path: `/v2/${key}`, headers: {} }),
    header: (key) => ({ path: '/', headers: key === '' ? {} : { 'x-api-key': key } }),
    'header, the path being right': (key) => ({
      path: `/${key === '' ? '' : good.key}`,
      headers: { 'x-api-key': key },
    }),
    query: (key) => ({ path: `/?key=${key}`, headers: {} }),
    'segment before the last': (key) => ({ path: `/${key}/`, headers: {} }),
  }
  const table = [...kinds, ...odd].flatMap((kind) => Object.keys(ways).map((way) => [kind, way] as const))

  test.each(table)('error: a key that is %s, as %s, reaches no method', async (kind, way) => {
    const { path, headers } = ways[way]?.(bad[kind] ?? '') ?? { path: '/', headers: {} }
    const height = await post(`${node.url}/${good.key}`, {}, mine.replace('evm_mine', 'eth_blockNumber'))
    expect(await post(`${node.url}${path}`, headers)).toEqual([401, refusal])
    expect(await post(`${node.url}${path}`, headers, `[${mine}]`)).toEqual([401, refusal])
    await expect(Client.open(`${node.url}${path}`, { headers })).rejects.toThrow(`401 ${refusal}`)
    expect(await post(`${node.url}/${good.key}`, {}, mine.replace('evm_mine', 'eth_blockNumber'))).toEqual(height)
  })

  test('error: a key where none is looked for', async () => {
    for (const path of [`/?${good.key}`, `/${good.key}/`, `/${good.key}/v2`, `/..%2f${good.key}`, `/${good.key}%00`]) {
      expect(await post(`${node.url}${path}`)).toEqual([401, refusal])
    }
    const { text } = await exchange(Number(new URL(node.url).port), `POST /${good.key}\r\nX: HTTP/1.1\r\n\r\n${mine}`)
    expect(text).not.toMatch(/^HTTP\/1.1 200/)
  })

  test('behavior: a valid key is accepted in every folder', async () => {
    for (const path of [`/${good.key}`, `/v2/${good.key}`, `/a/b/${good.key}`, `/${good.key}?x=1`]) {
      expect((await post(`${node.url}${path}`))[0]).toBe(200)
    }
    expect((await post(node.url, { 'x-api-key': good.key }))[0]).toBe(200)
    const paths = [`/${good.key}`, `/v2/${good.key}`]
    for (const path of paths) {
      const overHttp = createPublicClient({ transport: http(`${node.url}${path}`) })
      const overSocket = createPublicClient({ transport: webSocket(`${node.url.replace('http', 'ws')}${path}`) })
      expect([await overHttp.getChainId(), await overSocket.getChainId()]).toEqual([33, 33])
      ;(await overSocket.transport.getRpcClient()).close()
    }
  })

  test('behavior: a page may read why it was refused', async () => {
    const response = await fetch(node.url, {
      method: 'POST',
      headers: { ...json, origin: 'http://localhost:3000' },
      body: mine,
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'http://localhost:3000',
    ])
  })

  test('behavior: all workers follow the commands, and connections end with their key', async () => {
    const { key } = await folder.json('create', 'later')
    expect(
      await eventually(
        () => statuses(`${node.url}/${key}`),
        (all) => String(all) === '200',
      ),
    ).toEqual([200])
    const clients = await Promise.all(Array.from({ length: 6 }, () => Client.open(`${node.url}/${key}`)))
    for (const client of clients) expect(await client.result('eth_subscribe', ['newHeads'])).toMatch(/^0x/)

    const next = await folder.json('rotate', 'later', '--keep', '3600')
    expect(
      await eventually(
        () => statuses(`${node.url}/${next.key}`),
        (all) => String(all) === '200',
      ),
    ).toEqual([200])
    expect(await statuses(`${node.url}/${key}`)).toEqual([200])

    expect(await folder.json('revoke', 'later')).toMatchObject({ state: 'revoked', keys: [] })
    for (const client of clients) {
      expect(await client.closed).toEqual({ code: 1008, reason: 'Must be authenticated!' })
    }
    for (const old of [key, next.key]) {
      expect(
        await eventually(
          () => statuses(`${node.url}/${old}`),
          (all) => String(all) === '401',
        ),
      ).toEqual([401])
    }
  })

  test('error: a body that arrives after its key was revoked', async () => {
    const { key } = await folder.json('create', 'slow')
    await eventually(
      () => statuses(`${node.url}/${key}`),
      (all) => String(all) === '200',
    )
    const head = `POST /${key} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${mine.length}\r\n\r\n`
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1')
    const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    socket.write(head + mine.slice(0, 5))
    await new FileStore(folder.file).change((apps) => ({ apps: revokeApp(apps, 'slow', Date.now()) }))
    await eventually(
      () => statuses(`${node.url}/${key}`),
      (all) => String(all) === '401',
    )
    socket.write(mine.slice(5))
    expect(await answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
    socket.destroy()
  })

  test('behavior: a key that expires ends the connections that it opened', async () => {
    const key = await folder.addKey({ name: 'brief', expiresAt: Date.now() + 5000 })
    await eventually(
      () => statuses(`${node.url}/${key}`),
      (all) => String(all) === '200',
    )
    const client = await Client.open(`${node.url}/${key}`)
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(await statuses(`${node.url}/${key}`)).toEqual([401])
  })

  test('behavior: a damaged store changes no keys and is logged without its content', async () => {
    const before = readFileSync(folder.file, 'utf8')
    writeFileSync(folder.file, before.slice(0, -20))
    await eventually(
      async () => node.errors,
      (text) => text.includes('is damaged'),
    )
    expect(node.errors).toMatch(/apps\.json: is damaged/)
    expect(await statuses(`${node.url}/${good.key}`)).toEqual([200])
    expect((await folder.run('list')).errors).toMatch(/^rhizome: .*apps\.json: is damaged: expected apps/)
    writeFileSync(folder.file, '{"version":1,"apps":[]}')
    expect(
      await eventually(
        () => statuses(`${node.url}/${good.key}`),
        (all) => String(all) === '401',
      ),
    ).toEqual([401])
    expect(await statuses(node.url)).toEqual([401])
    writeFileSync(folder.file, before)
    expect(
      await eventually(
        () => statuses(`${node.url}/${good.key}`),
        (all) => String(all) === '200',
      ),
    ).toEqual([200])
  })

  test('behavior: no key is stored or logged', () => {
    const kept = readFileSync(folder.file, 'utf8') + node.errors
    expect(folder.secrets.length).toBeGreaterThan(5)
    for (const key of folder.secrets) expect(kept).not.toContain(key.slice(3, 20))
    expect(statSync(folder.file).mode & 0o777).toBe(0o600)
  })
})

describe('a node without keys', () => {
  test('behavior: on loopback no key is needed until an app exists', async () => {
    const folder = new KeysFolder()
    const node = await folder.start()
    const client = await Client.open(node.url)
    expect(await statuses(`${node.url}/any/path`)).toEqual([200])
    const { key } = await folder.json('create', 'first')
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(await statuses(node.url)).toEqual([401])
    expect(await statuses(`${node.url}/${key}`)).toEqual([200])
    await node.stop()
  })

  test('error: a node that other machines reach starts only with --open', async () => {
    const folder = new KeysFolder()
    const reached = ['--http-host', '0.0.0.0']
    await expect(folder.start(...reached)).rejects.toThrow(
      /ended with 2: rhizome: http\.host: .*rhizome keys create.*--open/,
    )
    const open = await folder.start(...reached, '--open')
    const local = (node: NodeProcess): string => node.url.replace('0.0.0.0', '127.0.0.1')
    expect(await statuses(local(open))).toEqual([200])
    const { key } = await folder.json('create', 'first')
    expect(await statuses(local(open))).toEqual([200])
    await open.stop()
    const keyed = await folder.start(...reached)
    expect([await statuses(local(keyed)), await statuses(`${local(keyed)}/${key}`)]).toEqual([[401], [200]])
    await keyed.stop()
  })

  test('error: it does not start with a store that it cannot trust', async () => {
    const folder = new KeysFolder()
    mkdirSync(folder.dir, { recursive: true })
    for (const content of ['', '{}', '[]', '{"version":3,"apps":[]}', '{"version":1,"apps":[{"name":"secretname"}]}']) {
      writeFileSync(folder.file, content)
      const error = await folder.start().then(String, String)
      expect(error).toMatch(/ended with 1: rhizome: .*apps\.json: is damaged/)
      expect(error).not.toContain('secretname')
    }
  })
})

describe('rhizome keys', () => {
  test('behavior: output as text and as JSON', async () => {
    const folder = new KeysFolder()
    const made = await folder.json(
      'create',
      'dex',
      '--description',
      'd',
      '--use-case',
      'DeFi',
      '--expires',
      '2999-12-31',
    )
    expect(made).toMatchObject({
      name: 'dex',
      description: 'd',
      useCase: 'DeFi',
      network: 'regtest',
      state: 'active',
      keys: [{ expiresAt: '2999-12-31T00:00:00.000Z' }],
      urls: {
        http: `http://127.0.0.1:4444/${made.key}`,
        httpV2: `http://127.0.0.1:4444/v2/${made.key}`,
        webSocket: `ws://127.0.0.1:4444/${made.key}`,
        webSocketV2: `ws://127.0.0.1:4444/v2/${made.key}`,
      },
    })
    expect((await folder.run('list')).output).toMatch(/^dex +regtest +active +DeFi\n$/)
    const { output } = await folder.run('show', 'dex')
    expect(output).toMatch(/^name +dex\n/)
    expect(output).not.toContain(made.key)
    expect(output).not.toContain(hashOf(made.key).toString('hex').slice(0, 8))
  })

  test('behavior: concurrent commands are all applied', async () => {
    const folder = new KeysFolder()
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => folder.json('create', name)))
    const apps = (await folder.json('list')) as unknown as PrintedApp[]
    expect(apps.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('error: each message names the problem', async () => {
    const folder = new KeysFolder()
    await folder.json('create', 'a')
    const failures: [string[], number, RegExp][] = [
      [['create', 'a'], 1, /^rhizome: name: there is an app a already\n$/],
      [['create', '../a'], 2, /Expected up to 64 letters/],
      [['create', 'b', '--expires', '2001-01-01'], 2, /time in the future/],
      [['create', 'b', '--description', 'x\ny'], 2, /one line/],
      [['show', 'b'], 1, /^rhizome: name: there is no app "b"\n$/],
      [['rotate', 'a', '--keep', '-1'], 2, /whole number of seconds/],
      [['frotz'], 2, /./],
    ]
    for (const [parameters, code, message] of failures) {
      const ended = await folder.run(...parameters)
      expect([parameters, ended.code, ended.output]).toEqual([parameters, code, ''])
      expect(ended.errors).toMatch(message)
    }
    await folder.json('revoke', 'a')
    expect((await folder.run('rotate', 'a')).errors).toBe('rhizome: name: a is revoked; create another app\n')
    writeFileSync(`${folder.file}.lock`, '')
    expect((await folder.run('create', 'c')).errors).toMatch(/apps\.json\.lock: locked by another command/)
  })
})
