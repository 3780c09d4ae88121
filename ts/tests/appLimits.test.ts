import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type AppChange, createApp, editApp } from '../src/auth/app.ts'
import { FileStore } from '../src/auth/fileStore.ts'
import type { PolicyChange } from '../src/auth/policy.ts'
import { readUsage } from '../src/auth/usageFile.ts'
import { NodeProcess, type ProgramResult, runCommand, scratchFolder } from './node.ts'
import { Client } from './webSocket.ts'

// The tests start many processes, one after the other.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const chainId = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
const dir = join(scratchFolder(), 'data')

function run(...parameters: string[]): Promise<ProgramResult> {
  return runCommand(['keys', ...parameters, '--data-dir', dir])
}

async function json<T = { key: string }>(...parameters: string[]): Promise<T> {
  const { code, output, errors } = await run(...parameters, '--json')
  if (code !== 0) throw new Error(errors)
  return JSON.parse(output) as T
}

const store = new FileStore(join(dir, 'apps.json'))

/** Returns the key of a new app, created like the command does; a process for each app would be slow. */
async function create(name: string, policy: PolicyChange = {}): Promise<string> {
  const given = { name, description: '', useCase: '', network: 'regtest', expiresAt: null, ...policy }
  return (await store.change((apps) => createApp(apps, given, Date.now()))).key
}

async function edit(name: string, change: AppChange): Promise<void> {
  await store.change((apps) => ({ apps: editApp(apps, name, change) }))
}

function start(...flags: string[]): Promise<NodeProcess> {
  const settings = 'metrics.enabled = true\nmetrics.port = 0\n'
  return NodeProcess.start(['--data-dir', dir, '--workers', '4', ...flags], settings)
}

/** Sends a request over a new connection, so that the requests reach all workers. */
async function status(url: string, body = chainId, more: Record<string, string> = {}): Promise<number> {
  const headers = { 'content-type': 'application/json', connection: 'close', ...more }
  return (await fetch(url, { method: 'POST', headers, body })).status
}

async function statuses(
  url: string,
  count: number,
  body = chainId,
  more: Record<string, string> = {},
): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: count }, () => status(url, body, more)))
  return all.sort()
}

/** Returns the answer of all workers once they agree. */
async function becomes(
  url: string,
  wanted: number,
  body = chainId,
  more: Record<string, string> = {},
): Promise<number[]> {
  for (const until = Date.now() + 10_000; ; ) {
    const seen = [...new Set(await statuses(url, 12, body, more))]
    if ((seen.length === 1 && seen[0] === wanted) || Date.now() > until) return seen
  }
}

async function used(name: string) {
  const report = (await readUsage(join(dir, 'usage.json'))).find(({ app }) => app === name)
  return [report?.days, report?.months].map((periods) => Object.values(periods ?? {})[0])
}

describe('a running node', () => {
  let node: NodeProcess
  const secrets: string[] = []
  beforeAll(async () => {
    await create('somebody')
    node = await start('--log-level', 'trace')
  })
  afterAll(() => node.stop())

  test('behavior: an edit applies to all workers', async () => {
    const key = await create('edited')
    secrets.push(key)
    const url = `${node.url}/${key}`
    expect(await becomes(url, 200)).toEqual([200])
    await edit('edited', { allow: { sources: ['10.0.0.0/8', '::2'] } })
    expect(await becomes(url, 403)).toEqual([403])
    await edit('edited', { allow: { sources: ['127.0.0.0/8'], methods: ['web3_*'] } })
    expect(await becomes(url, 403)).toEqual([403])
    expect(await becomes(url, 200, chainId.replace('eth_chainId', 'web3_clientVersion'))).toEqual([200])
    await edit('edited', { allow: { sources: [], methods: [] } })
    expect(await becomes(url, 200)).toEqual([200])
  })

  test('behavior: connections stay open until a changed policy refuses them', async () => {
    const key = await create('connected')
    secrets.push(key)
    const url = `${node.url}/${key}`
    await becomes(url, 200)
    const clients = await Promise.all(Array.from({ length: 6 }, () => Client.open(url)))
    const contract = `0x${'11'.repeat(20)}`
    await edit('connected', { allow: { contracts: [contract] }, description: 'changed' })
    const call = JSON.stringify({ id: 1, method: 'eth_call', params: [{ to: `0x${'22'.repeat(20)}` }, 'latest'] })
    expect(await becomes(url, 403, call)).toEqual([403])
    for (const client of clients) {
      expect(await client.exchange(call)).toMatchObject({ error: { code: -32600, message: 'Contract not allowed' } })
      expect(await client.result('eth_subscribe', ['logs', { address: contract }])).toMatch(/^0x/)
      expect(await client.result('eth_subscribe', ['newHeads'])).toMatch(/^0x/)
    }
    await edit('connected', { allow: { origins: ['https://app.example'] } })
    for (const client of clients) expect(await client.closed).toEqual({ code: 1008, reason: 'Must be authenticated!' })
  })

  test('behavior: keys for tokens are rotated', async () => {
    const [old, next] = ['old', 'next'].map((name) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      writeFileSync(join(dir, `${name}.pem`), pair.publicKey.export({ type: 'spki', format: 'pem' }))
      return pair.privateKey
    })
    const sign = (kid: string, key = old) => {
      const claims = new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).setExpirationTime('10m')
      return claims.sign(key as NonNullable<typeof key>)
    }
    const { key } = await json('create', 'signed', '--jwt-key', join(dir, 'old.pem'), '--require-jwt')
    const url = `${node.url}/${key}`
    const [first, second] = [await sign('old'), await sign('named', next)]
    secrets.push(key, first, second)
    const ask = (token: string, wanted: number) => becomes(url, wanted, chainId, { authorization: `Bearer ${token}` })
    expect([await ask(first, 200), await ask(second, 401)]).toEqual([[200], [401]])
    const client = await Client.open(url, { headers: { authorization: `Bearer ${first}` } })
    await run('edit', 'signed', '--jwt-key', `${join(dir, 'next.pem')}:named`)
    expect([await ask(second, 200), await ask(first, 200)]).toEqual([[200], [200]])
    expect(await client.result('eth_chainId')).toBe('0x21')
    await run('edit', 'signed', '--drop-jwt-key', 'old')
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect([await ask(first, 401), await ask(second, 200)]).toEqual([[401], [200]])
  })

  test('behavior: four workers together let through what the rate says', async () => {
    const unitsPerSecond = 300
    const key = await create('paced', { limits: { unitsPerSecond, burst: 30 } })
    secrets.push(key)
    await becomes(`${node.url}/${key}`, 200)
    const { port } = new URL(node.url)
    const seconds = 6
    const startedMs = performance.now()
    const isOver = () => performance.now() - startedMs > seconds * 1000
    let [passed, refused] = [0, 0]
    const agent = new Agent({ keepAlive: true })
    const send = () =>
      new Promise<void>((resolve, reject) => {
        const headers = { 'content-type': 'application/json' }
        const sent = request({ port, method: 'POST', path: `/${key}`, agent, headers }, (response) => {
          if (response.statusCode === 200) passed++
          else refused++
          response.resume().on('end', resolve)
        })
        sent.on('error', reject).end(chainId)
      })
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (!isOver()) await send()
      }),
    )
    const took = (performance.now() - startedMs) / 1000
    agent.destroy()
    expect(refused).toBeGreaterThan(0)
    expect(passed).toBeGreaterThan(unitsPerSecond * took * 0.95 - 30)
    expect(passed).toBeLessThan(unitsPerSecond * took * 1.05 + 30)
  })

  test('behavior: no key and no token is logged or stored', () => {
    const kept = readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(dir, name), 'utf8'))
      .join()
    expect(secrets.length).toBe(6)
    for (const secret of secrets) {
      expect(kept).not.toContain(secret.slice(3, 30))
      expect(node.errors).not.toContain(secret.slice(-30))
      expect(node.errors).not.toContain(secret.slice(3, 30))
    }
  })
})

describe('usage', () => {
  test('behavior: quotas are shared by all workers and counted once, also after a kill', async () => {
    const key = await create('counted', { limits: { dailyUnits: 40 } })
    let node = await start()
    const url = () => `${node.url}/${key}`
    expect(await statuses(url(), 30)).toEqual(Array(30).fill(200))
    expect(await status(url(), chainId.replace('eth_chainId', 'eth_frotz'))).toBe(200)
    expect(await node.stop('SIGTERM')).toBe(0)
    const counted = { requests: 31, units: 31, errors: 1, refused: 0 }
    expect(await used('counted')).toEqual([counted, counted])

    node = await start()
    const answers = await statuses(url(), 20)
    expect(answers).toEqual([...Array(9).fill(200), ...Array(11).fill(429)])
    for (const until = Date.now() + 10_000; Date.now() < until; ) {
      if ((await used('counted'))[0]?.refused === 11) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const page = await (await fetch(node.metricsUrl ?? '')).text()
    expect(page).toContain('rhizome_app_units_total{app="counted"} 9\n')
    expect(page).toContain('rhizome_app_refused_total{app="counted"} 11\n')
    const after = { requests: 40, units: 40, errors: 1, refused: 11 }
    expect(await used('counted')).toEqual([after, after])
    await node.stop('SIGKILL')

    node = await start()
    expect(await statuses(url(), 4)).toEqual([429, 429, 429, 429])
    await edit('counted', { limits: { dailyUnits: null } })
    expect(await becomes(url(), 200)).toEqual([200])
    await node.stop()
  })

  test('error: a damaged file is renamed and reported', async () => {
    writeFileSync(join(dir, 'usage.json'), '{"version":1,"apps":[{"app":"secret')
    expect((await run('usage')).errors).toMatch(/^rhizome: .*usage\.json: is damaged: expected usage/)
    const node = await start()
    expect(node.errors).toMatch(
      /usage\.json: is damaged.*renamed to .*usage\.json\.damaged-\d+, usage is counted from zero/,
    )
    expect(node.errors).not.toContain('secret')
    await node.stop()
    expect(readdirSync(dir).filter((name) => name.startsWith('usage.json.damaged-'))).toHaveLength(1)
  })
})

describe('rhizome keys', () => {
  test('behavior: a policy is shown as it was given', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(join(dir, 'mobile.jwk'), JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'phone' }))
    writeFileSync(join(dir, 'private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const flags = ['--allow-source', '::1', '--allow-source', '10.0.0.0/8', '--allow-origin', 'https://a.example']
    flags.push('--allow-contract', `0x${'AA'.repeat(20)}`, '--allow-method', 'eth_*,web3_sha3', '--rate', '100')
    flags.push('--burst', '200', '--daily', '5000', '--monthly', '90000', '--concurrency', '7', '--require-jwt')
    flags.push('--jwt-key', join(dir, 'mobile.jwk'), '--jwt-audience', 'node', '--jwt-issuer', 'us')
    expect(await json('create', 'whole', ...flags)).toMatchObject({
      allow: {
        sources: ['::1', '10.0.0.0/8'],
        origins: ['https://a.example'],
        contracts: [`0x${'aa'.repeat(20)}`],
        methods: ['eth_*', 'web3_sha3'],
      },
      jwt: { isRequired: true, audience: 'node', issuer: 'us', keys: [{ kid: 'phone', alg: 'EdDSA' }] },
      limits: { unitsPerSecond: 100, burst: 200, dailyUnits: 5000, monthlyUnits: 90_000, concurrency: 7 },
    })
    const { output } = await run('show', 'whole')
    expect(output).toMatch(/\nallow\.sources +::1\n +10\.0\.0\.0\/8\nallow\.origins +https:\/\/a\.example\n/)
    expect(output).toMatch(/\njwt\.isRequired +true\n.*\n.*\njwt\.keys +phone \(EdDSA\)\n/)
    expect(output).toMatch(/\nlimits\.monthlyUnits +90000\nlimits\.concurrency +7\n/)
    await run('edit', 'whole', '--no-require-jwt', '--rate', 'none', '--burst', 'none', '--jwt-issuer', 'none')
    const edited = (await run('show', 'whole')).output
    expect(edited).not.toMatch(/isRequired|unitsPerSecond|issuer/)
    expect(edited).toMatch(/jwt\.audience +node/)
  })

  test('error: each message names the problem', async () => {
    const failures: [string[], RegExp][] = [
      [
        ['--allow-source', 'nowhere'],
        /^rhizome: allow\.sources\[0\]: "nowhere" is not an IP address or a CIDR range\n$/,
      ],
      [['--allow-method', 'eth_frotz'], /^rhizome: allow\.methods: there is no method "eth_frotz"\n$/],
      [['--allow-method', 'frotz_*'], /there is no method "frotz_\*"/],
      [['--rate', '0'], /^rhizome: limits\.unitsPerSecond: expected a whole number from 1/],
      [['--rate', '1.5'], /Expected a whole number or none/],
      [['--burst', '5'], /limits\.burst: has no meaning without/],
      [['--require-jwt'], /jwt\.isRequired: there is no key/],
      [['--jwt-key', join(dir, 'missing.pem')], /cannot be read \(ENOENT\)/],
      [['--jwt-key', join(dir, 'private.pem')], /jwt\.keys\[0\]\.publicKey: is secret; give the public key\n$/],
      [['--drop-jwt-key', 'nobody'], /there is none with the kid "nobody"/],
    ]
    const ends = await Promise.all(failures.map(([flags]) => run('create', 'other', ...flags)))
    for (const [index, { code, output, errors }] of ends.entries()) {
      const [flags, message] = failures[index] as [string[], RegExp]
      expect([flags, code === 0, output]).toEqual([flags, false, ''])
      expect(errors).toMatch(message)
    }
    expect((await run('edit', 'nobody')).errors).toBe('rhizome: name: there is no app "nobody"\n')
    expect((await run('usage', 'nobody')).errors).toBe('rhizome: name: there is no app "nobody"\n')
    expect((await run('usage')).output).toMatch(/^app +UTC +requests +units +errors +refused\n/)
  })
})
