import { execFileSync } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createApp } from '../src/auth/app.ts'
import { MemoryRates } from '../src/auth/bucket.ts'
import { RedisStore } from '../src/auth/redisStore.ts'
import { RedisUsage } from '../src/auth/redisUsage.ts'
import { type Spending, StoreError } from '../src/auth/store.ts'
import { RedisFilters } from '../src/filters/redisStore.ts'
import type { StoredFilter } from '../src/filters/store.ts'
import { RedisConnection, type RedisRunner, type RedisState, redisForOnce } from '../src/redis/connection.ts'
import { RedisError } from '../src/redis/error.ts'
import { freePort } from './freePort.ts'
import { program, runProgram } from './node.ts'
import { describeWithRedis, RedisProcess } from './redis.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const address = (port: number) => ({ host: '127.0.0.1', port, hasTls: false, database: 0 })

let server: RedisProcess
let one: RedisConnection
let other: RedisConnection
const states: RedisState[] = []

const appsOf = (redis: RedisRunner) => new RedisStore(redis).apps
const usageOf = (redis: RedisRunner) => new RedisStore(redis).usage
const ratesOf = (redis: RedisRunner) => {
  const { rates } = new RedisStore(redis)
  return { spend: (spent: readonly Spending[]) => rates.spend(spent, Date.now()) }
}
const app = (name: string) => ({ name, description: '', useCase: '', network: 'regtest', expiresAt: null })

describeWithRedis('the stores in Redis', () => {
  beforeAll(async () => {
    server = await RedisProcess.start()
    one = await RedisConnection.open(address(server.port), 'test:', (state) => states.push(state))
    other = await RedisConnection.open(address(server.port), 'test:', () => undefined)
  })
  afterEach(async () => {
    await server.client.flushall()
  })
  afterAll(async () => {
    one.close()
    other.close()
    await server.stop()
  })

  test('behavior: apps that one node wrote are read by the other, and the revision differs', async () => {
    const [here, there] = [appsOf(one), appsOf(other)]
    expect(await there.read()).toEqual([])
    const before = await there.revision()
    const { apps } = await here.change((apps) => createApp(apps, app('wallet'), Date.now()))
    expect(await there.read()).toEqual(apps)
    const between = await there.revision()
    expect(between).not.toBe(before)
    await there.change((apps) => ({ apps: [...apps] }))
    expect(await here.revision()).not.toBe(between)
  })

  test('behavior: concurrent changes are all applied, a change that throws is not applied', async () => {
    const stores = [appsOf(one), appsOf(other)]
    const names = Array.from({ length: 12 }, (_none, index) => `app${index}`)
    await Promise.all(
      names.map((name, index) => stores[index % 2]?.change((apps) => createApp(apps, app(name), Date.now()))),
    )
    const found = await stores[0]?.read()
    expect(found?.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    await expect(stores[0]?.change((apps) => createApp(apps, app('app3'), Date.now()))).rejects.toThrow('already')
    expect(await stores[1]?.read()).toEqual(found)
  })

  test('behavior: a change whose answer was lost is known to be made', async () => {
    const losing: RedisRunner = {
      async run(work) {
        const answer = await one.run(work)
        if (answer === 1) throw new RedisError(true, 'no answer')
        return answer
      },
    }
    const { apps, key } = await appsOf(losing).change((before) => createApp(before, app('wallet'), Date.now()))
    expect(key).toMatch(/^rz_/)
    expect(await appsOf(other).read()).toEqual(apps)
  })

  test.each([
    ['no JSON', ['revision', 'x', 'content', '{"apps":']],
    ['a revision alone', ['revision', 'x']],
    ['strange members', ['revision', 'x', 'content', '{"version":1,"apps":[],"more":1}']],
    ['apps that are none', ['revision', 'x', 'content', '{"version":1,"apps":[{"name":"secret-name"}]}']],
  ])('error: damaged content: %s', async (_what, fields) => {
    await server.client.hset('test:apps', ...fields)
    const failure = appsOf(one).read()
    await expect(failure).rejects.toThrow(StoreError)
    await expect(failure).rejects.toThrow(/^Redis: apps: is damaged/)
    await expect(appsOf(one).change((apps) => ({ apps }))).rejects.toThrow(/damaged/)
    expect(await server.client.hget('test:apps', 'content')).toBe(fields[3] ?? null)
  })

  test('error: keys of another type', async () => {
    for (const key of ['apps', 'rate:a', 'usage:2026-11-21', 'usage:2026-11'])
      await server.client.set(`test:${key}`, 'secret')
    await expect(appsOf(one).read()).rejects.toThrow(/^Redis refused a command \(WRONGTYPE\)$/)
    await expect(appsOf(one).revision()).rejects.toThrow(StoreError)
    const spent = ratesOf(one).spend([{ app: 'a', units: 1, unitsPerSecond: 1, burst: 1 }])
    await expect(spent).rejects.toThrow(/^Redis refused a command \([A-Z]+\)$/)
    const used = { app: 'a', requests: 1, units: 1, errors: 0, refused: 0 }
    await expect(usageOf(one).add([used], Date.UTC(2026, 10, 21))).rejects.toThrow(StoreError)
    // The key of the day is valid again, that of the month is not: nothing must have been added to the day.
    await server.client.del('test:usage:2026-11-21')
    await expect(usageOf(one).add([used], Date.UTC(2026, 10, 21))).rejects.toThrow(StoreError)
    expect(await server.client.exists('test:usage:2026-11-21')).toBe(0)
    expect(one.state.isUp).toBe(true)
  })

  test('behavior: usage of both nodes adds up by day and month', async () => {
    const now = Date.UTC(2026, 10, 30, 23, 59)
    const [here, there] = [new RedisUsage(one, () => now), new RedisUsage(other, () => now)]
    const used = { app: 'a', requests: 2, units: 30, errors: 1, refused: 0 }
    expect(await here.add([used, { ...used, app: 'b.c-d_e', units: 7 }], now)).toEqual([
      { day: 30, month: 30 },
      { day: 7, month: 7 },
    ])
    expect(await there.add([{ ...used, units: 12 }], now - 86_400_000)).toEqual([{ day: 12, month: 42 }])
    expect(await there.add([{ app: 'a', requests: 0, units: 0, errors: 0, refused: 0 }], now)).toEqual([
      { day: 30, month: 42 },
    ])
    const [a, b] = (await there.report()).toSorted((left, right) => left.app.localeCompare(right.app))
    expect(a).toEqual({
      app: 'a',
      days: {
        '2026-11-29': { requests: 2, units: 12, errors: 1, refused: 0 },
        '2026-11-30': { requests: 2, units: 30, errors: 1, refused: 0 },
      },
      months: { '2026-11': { requests: 4, units: 42, errors: 2, refused: 0 } },
    })
    expect(Object.keys(a?.days ?? {})).toEqual(['2026-11-29', '2026-11-30'])
    expect(b).toMatchObject({ app: 'b.c-d_e', months: { '2026-11': { units: 7 } } })
    expect(await server.client.ttl('test:usage:2026-11-30')).toBeGreaterThan(60 * 86_400)
  })

  test('behavior: months before are found on the last day of a long one, too', async () => {
    const usage = new RedisUsage(one, () => Date.UTC(2026, 4, 31))
    const used = { app: 'a', requests: 1, units: 1, errors: 0, refused: 0 }
    for (const month of [1, 3]) await usage.add([used], Date.UTC(2026, month, 15))
    expect(Object.keys((await usage.report())[0]?.months ?? {})).toEqual(['2026-02', '2026-04'])
  })

  test('behavior: an answer that was lost does not make usage count twice', async () => {
    const usage = usageOf(one)
    const now = Date.now()
    const used = { app: 'a', requests: 1, units: 10, errors: 0, refused: 0 }
    expect(await usage.add([used], now)).toEqual([{ day: 10, month: 10 }])
    await server.client.client('PAUSE', 1500, 'WRITE')
    await expect(usage.add([used], now)).rejects.toThrow('Redis is away (no answer)')
    await expect.poll(() => one.state.isUp, { timeout: 5000 }).toBe(true)
    // The node reports it again, with the counts since then.
    expect(await usage.add([{ ...used, units: 14 }], now)).toEqual([{ day: 24, month: 24 }])
    expect(await usage.add([{ ...used, units: 1 }], now)).toEqual([{ day: 25, month: 25 }])
  })

  test('behavior: one bucket for both nodes, as full as a bucket in memory', async () => {
    const [here, there] = [ratesOf(one), ratesOf(other)]
    const memory = new MemoryRates()
    const bucket = { app: 'a', units: 30, unitsPerSecond: 0.001, burst: 100 }
    const turns = [here, there, here, there]
    for (const [turn, rates] of turns.entries()) {
      const [level] = await rates.spend([bucket])
      const [expected] = await memory.spend([bucket], turn)
      expect(level).toBeCloseTo(expected ?? Number.NaN, 1)
    }
    expect((await here.spend([{ ...bucket, units: 0 }]))[0]).toBeCloseTo(-20, 1)
    expect(await server.client.pttl('test:rate:a')).toBeGreaterThan(100_000_000)
    // The bucket fills again, and never above its size.
    expect(await here.spend([{ ...bucket, units: 0, unitsPerSecond: 1e9 }])).toEqual([100])
    expect(await server.client.exists('test:rate:a')).toBe(0)
    expect(await there.spend([])).toEqual([])
  })

  test('behavior: a bucket that never fills does not expire, and levels keep fractions', async () => {
    const rates = ratesOf(one)
    const bucket = { app: 'a', units: 0.25, unitsPerSecond: 0, burst: 1 }
    expect(await rates.spend([bucket, { ...bucket, app: 'b' }])).toEqual([0.75, 0.75])
    expect(await rates.spend([bucket])).toEqual([0.5])
  })

  test('behavior: a killed server is away at once and is reconnected', async () => {
    states.length = 0
    await server.kill()
    await expect.poll(() => one.state.isUp).toBe(false)
    await expect(appsOf(one).read()).rejects.toThrow(/^Redis is away \(.+\)$/)
    await server.restart()
    await expect.poll(() => one.state.isUp, { timeout: 5000 }).toBe(true)
    expect(await appsOf(one).read()).toEqual([])
    expect(states.map(({ isUp }) => isUp).filter((isUp, index, all) => isUp !== all[index - 1])).toEqual([false, true])
    expect(new Set(states.filter(({ isUp }) => !isUp).map(({ since }) => since)).size).toBe(1)
  })

  test('behavior: a server that takes no writes is away, though it answers', async () => {
    await server.client.replicaof('127.0.0.1', 1)
    await expect.poll(() => one.state, { timeout: 5000 }).toMatchObject({ isUp: false, reason: 'READONLY' })
    await server.client.replicaof('NO', 'ONE')
    await expect.poll(() => one.state.isUp, { timeout: 5000 }).toBe(true)
    await server.client.config('SET', 'maxmemory', '1')
    await expect.poll(() => one.state, { timeout: 5000 }).toMatchObject({ isUp: false, reason: 'OOM' })
    await server.client.config('SET', 'maxmemory', '0')
    await expect.poll(() => one.state.isUp, { timeout: 5000 }).toBe(true)
  })

  test('behavior: a hanging server is away, and no request waits for it', async () => {
    await server.client.client('PAUSE', 4000, 'ALL')
    await expect.poll(() => one.state, { timeout: 3500 }).toMatchObject({ isUp: false })
    for (let turn = 0; turn < 100; turn++) await expect(appsOf(one).revision()).rejects.toThrow('away')
    // The pause is not over: all of these were refused without waiting.
    expect(one.state.isUp).toBe(false)
    await expect.poll(() => one.state.isUp, { timeout: 8000 }).toBe(true)
  })

  test('behavior: a socket in the file system, a user, a database', async () => {
    const socket = join(server.folder, 'socket')
    const local = await RedisProcess.start(['--unixsocket', socket])
    await local.client.call('ACL', 'SETUSER', 'reader', 'on', '>open', '~test:*', '+@all', '-eval')
    const place = { path: socket, hasTls: false, username: 'reader', password: 'open', database: 3 }
    await local.client.select(3)
    await local.client.hset('test:apps', 'revision', 'mine')
    const connection = await RedisConnection.open(place, 'test:', () => undefined)
    expect(connection.state.isUp).toBe(true)
    for (const apps of [appsOf(connection), appsOf(redisForOnce(place, 'test:'))]) {
      expect(await apps.revision()).toBe('mine')
    }
    await local.client.del('test:apps')
    const change = appsOf(connection).change((apps) => ({ apps }))
    await expect(change).rejects.toThrow('Redis refused a command (NOPERM)')
    connection.close()
    await local.stop()
  })

  test('error: a database that does not exist is not taken for another', async () => {
    const place = { ...address(server.port), database: 300 }
    const connection = await RedisConnection.open(place, 'test:', () => undefined)
    expect(connection.state).toMatchObject({ isUp: false, reason: 'ERR' })
    await expect(appsOf(connection).read()).rejects.toThrow('Redis is away (ERR)')
    await expect(appsOf(redisForOnce(place, 'test:')).read()).rejects.toThrow('Redis refused a command (ERR)')
    connection.close()
  })

  test.each([
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['announces more than fits in memory', '$99999999999\r\nabc'],
    ['has too many clients', '-ERR max number of clients reached\r\n'],
    ['says nothing', ''],
  ])('error: a server that %s', async (_what, greeting) => {
    const sockets = new Set<Socket>()
    const stranger = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).write(greeting)
    })
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    const place = address((stranger.address() as { port: number }).port)
    const connection = await RedisConnection.open(place, '', () => undefined)
    expect(connection.state.isUp).toBe(false)
    await expect(appsOf(connection).read()).rejects.toThrow(/^Redis is away/)
    await expect(appsOf(redisForOnce(place, '')).read()).rejects.toThrow(StoreError)
    connection.close()
    for (const socket of sockets) socket.destroy()
    stranger.close()
  })

  test('error: too many filters of one client, or of all, at any node', async () => {
    const filtersOf = (redis: RedisRunner) => new RedisFilters(redis, '0xaa', { expiryMs: 1000, maximum: 4 })
    const [here, there] = [filtersOf(one), filtersOf(other)]
    const filter: StoredFilter = { filter: { kind: 'pending' }, seen: '{}' }
    const id = await here.add(filter, 'a')
    await there.add(filter, 'a')
    await expect(here.add(filter, 'a')).rejects.toThrow('Too many filters: 2 of 4 are the most of one client')
    await here.add(filter, 'b')
    await here.add(filter, 'c')
    await expect(there.add(filter, 'd')).rejects.toThrow('Too many filters: 4 are installed')
    expect(await there.remove(id)).toBe(true)
    const kept = await there.add(filter, 'a')
    // Filters that expire leave their share, a poll keeps them.
    for (let round = 0; round < 3; round++) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await here.find(kept)).toEqual(filter)
    }
    await here.add(filter, 'a')
    await expect(here.add(filter, 'a')).rejects.toThrow('of one client')
    expect(await here.count()).toBe(2)
  })

  test('error: an untrusted certificate', async () => {
    const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(server.folder, name)) as [
      string,
      string,
    ]
    const made = '-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'
    execFileSync('openssl', ['req', ...made.split(' '), '-keyout', key, '-out', certificate], { stdio: 'ignore' })
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate]
    const secured = await RedisProcess.start(['--tls-port', '0', '--tls-auth-clients', 'no', ...files])
    const port = await freePort()
    await secured.client.config('SET', 'tls-port', String(port))
    const url = `rediss://localhost:${port}`
    const list = (trusted: string) =>
      runProgram([program, 'keys', 'list', '--store', url, '--data-dir', secured.folder], process.execPath, {
        NODE_EXTRA_CA_CERTS: trusted,
      })
    expect(await list('')).toMatchObject({ code: 1, errors: 'rhizome: Redis is away (DEPTH_ZERO_SELF_SIGNED_CERT)\n' })
    expect(await list(certificate)).toEqual({ code: 0, output: '', errors: '' })
    await secured.stop()
  })

  test('error: a password that is wrong, or missing', async () => {
    const secured = await RedisProcess.start([], 'right')
    for (const [password, reason] of [
      ['wrong', 'WRONGPASS'],
      [undefined, 'NOAUTH'],
    ] as const) {
      const place = { ...address(secured.port), ...(password !== undefined && { password }) }
      const connection = await RedisConnection.open(place, '', () => undefined)
      await expect.poll(() => connection.state).toMatchObject({ isUp: false, reason })
      connection.close()
      await expect(appsOf(redisForOnce(place, '')).read()).rejects.toThrow(`Redis is away (${reason})`)
    }
    const right = { ...address(secured.port), password: 'right' }
    expect(await appsOf(redisForOnce(right, '')).read()).toEqual([])
    await secured.stop()
  })
})
