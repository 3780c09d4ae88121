import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CompactSign, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Accounting } from '../src/auth/accounting.ts'
import { newApiKey } from '../src/auth/apiKey.ts'
import { createApp, type NewApp, revokeApp, rotateKey } from '../src/auth/app.ts'
import { EmbeddedStore } from '../src/auth/embeddedStore.ts'
import { Keyring } from '../src/auth/keyring.ts'
import { KeySource } from '../src/auth/keySource.ts'
import { MethodGroups } from '../src/auth/methodGroups.ts'
import { methodGroups } from '../src/methods/entries.ts'
import type { Addon } from '../src/native/bindings.ts'
import type { Server } from '../src/server.ts'
import { fakeAddon } from './fakeAddon.ts'
import { fakeServer } from './fakeServer.ts'
import { scratchFolder } from './node.ts'
import { Client } from './webSocket.ts'

// All kinds of missing permission, over HTTP and WebSocket, alone and in a batch: no request reaches the core.

const good = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const second = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const listed = `0x${'11'.repeat(20)}`
const other = `0x${'22'.repeat(20)}`
const origin = 'https://app.example'
const second64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const soon = () => Math.floor(Date.now() / 1000) + 600

interface TokenTerms {
  readonly key?: KeyObject
  readonly alg?: string
  readonly kid?: string
  readonly claims?: object
}

function token({ key = good.privateKey, alg = 'ES256', kid = 'one', claims = {} }: TokenTerms = {}): Promise<string> {
  const payload = { exp: soon(), aud: 'node', iss: 'us', ...claims }
  return new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key)
}

/** Returns a token with exactly this text as its claims. */
function signed(claims: string): Promise<string> {
  return new CompactSign(Buffer.from(claims)).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(good.privateKey)
}

function handMade(header: object, secret: string | undefined): string {
  const text = `${second64(header)}.${second64({ exp: soon(), aud: 'node', iss: 'us' })}`
  return `${text}.${secret === undefined ? '' : createHmac('sha256', secret).update(text).digest('base64url')}`
}

/** Calls of the core since the previous check. */
const calls: string[] = []
/** Text arguments of these calls. */
const coreTexts: string[] = []
const keys: Record<string, string> = {}
const secrets: string[] = []
let server: Server
let url: string
let source: KeySource
let accounting: Accounting
let store: EmbeddedStore
let keyring: Keyring
/** Time by which the clock of the keyring is ahead. */
let aheadMs = 0

async function add(name: string, terms: Partial<NewApp> = {}, now = Date.now()): Promise<void> {
  const app = { name, description: '', useCase: '', network: 'regtest', expiresAt: null, ...terms }
  const { key } = await store.apps.change((apps) => createApp(apps, app, now))
  keys[name] = key
  secrets.push(key)
}

beforeAll(async () => {
  const folder = scratchFolder()
  const fail = (error: Error) => {
    throw error
  }
  store = await EmbeddedStore.open({ apps: join(folder, 'apps.json'), usage: join(folder, 'usage.json') }, fail)
  await add('free')
  await add('revoked')
  await store.apps.change((apps) => ({ apps: revokeApp(apps, 'revoked', Date.now()) }))
  await add('rotated')
  await store.apps.change((apps) => rotateKey(apps, 'rotated', { keepMs: 0, expiresAt: null }, Date.now()))
  await add('expired', { expiresAt: 2000 }, 1000)
  await add('foreign', { network: 'mainnet' })
  await add('source', { allow: { sources: ['10.0.0.0/8', '::2'] } })
  await add('origin', { allow: { origins: [origin] } })
  await add('method', { allow: { methods: ['web3_*', 'rsk_protocolVersion'] } })
  await add('contract', { allow: { contracts: [listed] } })
  await add('rate', { limits: { unitsPerSecond: 1, burst: 1 } })
  await add('daily', { limits: { dailyUnits: 1 } })
  await add('monthly', { limits: { monthlyUnits: 1 } })
  await add('busy', { limits: { concurrency: 1 } })
  await add('discovering', { limits: { dailyUnits: 100_000 } })
  await add('limited', { limits: { unitsPerSecond: 1000, dailyUnits: 50 } })
  const jwtKeys = [
    { kid: 'one', publicKey: pem(good.publicKey) },
    { kid: 'two', publicKey: pem(second.publicKey) },
    { kid: 'three', publicKey: pem(rsa.publicKey) },
  ]
  await add('token', { jwt: { isRequired: true, audience: 'node', issuer: 'us', keys: jwtKeys } })
  accounting = new Accounting(store, fail)
  source = await KeySource.open(store.apps, { network: 'regtest', isOpen: false }, accounting)
  keyring = new Keyring(source.keys, accounting.memory, new MethodGroups(methodGroups()), () => Date.now() + aheadMs)
  const core = fakeAddon()
  const native = new Proxy(core, {
    get(target, name) {
      const answer = target[name as keyof Addon]
      if (typeof name !== 'string' || ['nodeFigures', 'cancelExecution', 'forkedChain'].includes(name)) return answer
      calls.push(name)
      return (...parameters: unknown[]) => {
        coreTexts.push(...parameters.filter((one) => typeof one === 'string'))
        return (answer as (...parameters: unknown[]) => unknown)(...parameters)
      }
    },
  })
  server = fakeServer({ http: { cors: ['*'] } }, { native, keyring })
  url = `http://127.0.0.1:${await server.listen(0)}`
})
afterAll(async () => {
  await server.stop(0)
  await accounting.stop()
  await store.close()
})

const chainId = '{"jsonrpc":"2.0","id":"a","method":"eth_chainId","params":[]}'
const callOf = (method: string, params: unknown[] = []) => JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params })
const errorOf = (code: number, message: string, id: string | null = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

interface Sent {
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

async function post({ path, headers = {}, body = chainId }: Sent) {
  const sent = { 'content-type': 'application/json', ...headers }
  const response = await fetch(`${url}/${path}`, { method: 'POST', headers: sent, body })
  const text = await response.text()
  for (const secret of secrets) expect(text).not.toContain(secret)
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as unknown }
}

/** Returns the calls that reached the core during `work`. */
async function reached(work: () => Promise<unknown>): Promise<string[]> {
  calls.length = 0
  await work()
  return calls.splice(0)
}

const unauthenticated = errorOf(-32600, 'Must be authenticated!')

describe('refused before anything is read', () => {
  const tokens: Record<string, () => Promise<string> | string> = {
    missing: () => '',
    nonsense: () => 'nonsense',
    'three dots': () => 'a.b.c',
    expired: () => token({ claims: { exp: soon() - 1000 } }),
    'without an end': () => token({ claims: { exp: undefined } }),
    'with an end that is no number': () => token({ claims: { exp: 'never' } }),
    'with an infinite end': () => signed('{"exp":1e400,"aud":"node","iss":"us"}'),
    'with an end beyond all times': () => token({ claims: { exp: 8_640_000_000_001 } }),
    'with an infinite beginning': () => signed(`{"exp":${soon()},"nbf":-1e400,"aud":"node","iss":"us"}`),
    'not yet good': () => token({ claims: { nbf: soon() } }),
    'of another audience': () => token({ claims: { aud: 'others' } }),
    'of no audience': () => token({ claims: { aud: undefined } }),
    'of another issuer': () => token({ claims: { iss: 'them' } }),
    forged: () => token({ key: stranger.privateKey }),
    'with an unknown kid': () => token({ kid: 'four' }),
    'with a kid of another key': () => token({ kid: 'two' }),
    'with the kid of an RSA key': () => token({ kid: 'three' }),
    'with a kid that is a path': () => token({ kid: '../../dev/null' }),
    'with a kid that every object has': () => token({ kid: 'constructor' }),
    'without a signature': () => handMade({ alg: 'none', kid: 'one' }, undefined),
    'with alg nOnE': () => handMade({ alg: 'nOnE', kid: 'one' }, undefined),
    'signed with the public key as a secret': () => handMade({ alg: 'HS256', kid: 'one' }, pem(good.publicKey)),
    'signed with the public RSA key as a secret': () => handMade({ alg: 'HS256', kid: 'three' }, pem(rsa.publicKey)),
    'with its own key': () =>
      new SignJWT({ exp: soon(), aud: 'node', iss: 'us' })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', jwk: stranger.publicKey.export({ format: 'jwk' }) as never })
        .sign(stranger.privateKey),
    'with another signature of the RSA key': () => token({ key: rsa.privateKey, alg: 'PS256', kid: 'three' }),
    'with a critical member': () =>
      new SignJWT({ exp: soon(), aud: 'node', iss: 'us' })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', crit: ['zz'], zz: 1 })
        .sign(good.privateKey, { crit: { zz: true } }),
    'with a list of methods that is none': () => token({ claims: { methods: 'eth_*' } }),
    'one character off': async () => {
      const text = await token()
      return `${text.slice(0, -20)}${text.at(-20) === 'A' ? 'B' : 'A'}${text.slice(-19)}`
    },
    'much too long': () => token({ claims: { filler: 'x'.repeat(9000) } }),
  }
  const keyCases: [string, () => Sent][] = [
    ['no key', () => ({ path: '' })],
    ['an unknown key', () => ({ path: newApiKey() })],
    ['a key alike at the start', () => ({ path: `${keys.free?.slice(0, 40)}AAAAAA` })],
    ...['revoked', 'rotated', 'expired', 'foreign'].map((name): [string, () => Sent] => [
      `a key: ${name}`,
      () => ({ path: keys[name] ?? '' }),
    ]),
  ]
  type Case = [string, () => Promise<Sent> | Sent, number, object, string | null]
  const table: Case[] = [
    ...keyCases.map(([name, sent]): Case => [name, sent, 401, unauthenticated, null]),
    ['another source', () => ({ path: keys.source ?? '' }), 403, errorOf(-32600, 'Address not allowed'), null],
    ['no origin', () => ({ path: keys.origin ?? '' }), 403, errorOf(-32600, 'Origin not allowed'), null],
    ...['https://evil.example', 'https://app.example.evil', 'http://app.example', 'null'].map(
      (from): Case => [
        `the origin ${from}`,
        () => ({ path: keys.origin ?? '', headers: { origin: from } }),
        403,
        errorOf(-32600, 'Origin not allowed'),
        null,
      ],
    ),
    ...Object.entries(tokens).map(
      ([name, make]): Case => [
        `a token ${name}`,
        async () => {
          const text = await make()
          if (text.length > 40) secrets.push(text)
          return { path: keys.token ?? '', headers: text === '' ? {} : { authorization: `Bearer ${text}` } }
        },
        401,
        unauthenticated,
        'Bearer',
      ],
    ),
    [
      'a token of another scheme',
      async () => ({ path: keys.token ?? '', headers: { authorization: `Basic ${await token()}` } }),
      401,
      unauthenticated,
      'Bearer',
    ],
    [
      'a token in the query',
      async () => ({ path: `${keys.token}?token=${await token()}` }),
      401,
      unauthenticated,
      'Bearer',
    ],
  ]

  test.each(table)('error: %s', async (_name, make, status, body, challenge) => {
    const sent = await make()
    const core = await reached(async () => {
      for (const form of [chainId, `[${chainId},${chainId}]`, 'not JSON']) {
        const answer = await post({ ...sent, body: form })
        expect([answer.status, answer.body]).toEqual([status, body])
        expect(answer.headers.get('www-authenticate')).toBe(challenge)
        expect(answer.headers.get('retry-after')).toBeNull()
        expect(answer.headers.get('ratelimit-limit')).toBeNull()
      }
      const opening = Client.open(`${url}/${sent.path}`, sent.headers === undefined ? {} : { headers: sent.headers })
      await expect(opening).rejects.toThrow(`${status} ${JSON.stringify(body)}`)
    })
    expect(core).toEqual([])
  })

  test('behavior: requests within the policy are accepted', async () => {
    const tokens = [
      await token(),
      await token({ key: second.privateKey, alg: 'EdDSA', kid: 'two' }),
      await token({ key: rsa.privateKey, alg: 'RS256', kid: 'three' }),
      await token({ claims: { exp: Math.floor(Date.now() / 1000) - 30 } }),
    ]
    const core = await reached(async () => {
      for (const text of tokens) {
        const headers = { authorization: `Bearer ${text}` }
        for (let times = 0; times < 2; times++)
          expect((await post({ path: keys.token ?? '', headers })).status).toBe(200)
        const client = await Client.open(`${url}/${keys.token}`, { headers })
        expect(await client.result('eth_chainId')).toBe('0x21')
        await client.close()
      }
      expect((await post({ path: keys.origin ?? '', headers: { origin } })).status).toBe(200)
      expect((await post({ path: keys.free ?? '' })).status).toBe(200)
    })
    expect(core).toEqual(Array(14).fill('ethChainId'))
  })

  test('behavior: a web page sends its token as a protocol of the WebSocket', async () => {
    const { WebSocket } = await import('ws')
    const socket = new WebSocket(`${url.replace('http', 'ws')}/${keys.token}`, ['bearer', await token()])
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    expect(socket.protocol).toBe('bearer')
    socket.close()
    const refused = new WebSocket(`${url.replace('http', 'ws')}/${keys.token}`, ['bearer', 'nonsense'])
    await expect(new Promise((resolve, reject) => refused.once('open', resolve).once('error', reject))).rejects.toThrow(
      '401',
    )
  })

  test('behavior: a token may narrow the methods, and never widens them', async () => {
    const headers = { authorization: `Bearer ${await token({ claims: { methods: ['web3_*'] } })}` }
    const path = keys.token ?? ''
    const core = await reached(async () => {
      expect((await post({ path, headers, body: callOf('web3_sha3', ['0x']) })).status).toBe(200)
      expect((await post({ path, headers })).status).toBe(403)
    })
    expect(core).toEqual(['web3Sha3'])
  })

  test('error: a body that arrives after its key was revoked, with a new token', async () => {
    const text = await token({ claims: { jti: 'slow' } })
    const head = `Content-Type: application/json\r\nContent-Length: ${chainId.length}\r\nAuthorization: Bearer ${text}`
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    socket.write(`POST /${keys.token} HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${chainId.slice(0, 5)}`)
    // After an answer on another connection, the server has read the body.
    await post({ path: keys.token ?? '', headers: { authorization: `Bearer ${await token()}` } })
    const core = await reached(async () => {
      keyring.replace({ ...source.keys, keys: [] })
      socket.write(chainId.slice(5))
      expect(await answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
    })
    keyring.replace(source.keys)
    socket.destroy()
    expect(core).toEqual([])
  })

  test('behavior: a connection ends with its token', async () => {
    const client = await Client.open(`${url}/${keys.token}`, {
      headers: { authorization: `Bearer ${await token()}` },
    })
    // Ten minutes and the tolerance of a minute pass for the server.
    aheadMs = 661_000
    const closed = await client.closed
    aheadMs = 0
    expect(closed).toEqual({ code: 1008, reason: 'Must be authenticated!' })
  })
})

describe('refused by method or contract', () => {
  const methodError = (method: string, id: string | null = 'a') =>
    errorOf(-32601, `the method ${method} does not exist/is not available`, id)
  const contractError = errorOf(-32600, 'Contract not allowed', 'a')
  const raw = (to: string) => {
    const fields = `8001825208${to}8080820099a0${'11'.repeat(32)}a0${'22'.repeat(32)}`
    return `0xf8${(fields.length / 2).toString(16)}${fields}`
  }
  const bare = other.slice(2)
  const simulated = (...blockStateCalls: object[]) => ['eth_simulateV1', { blockStateCalls }, 'latest']
  const table: [string, string, unknown[], object][] = [
    ...[
      'eth_chainId',
      'eth_getBalance',
      'evm_mine',
      'rsk_shutdown',
      'db_putString',
      'frotz',
      'web3',
      '',
      'Web3_sha3',
      'web3_nothing',
    ].map((method): [string, string, unknown[], object] => ['method', method, [], methodError(method)]),
    ...[
      ['eth_call', { to: other }, 'latest'],
      ['eth_call', { to: bare.toUpperCase() }, 'latest'],
      ['eth_call', { data: '0x00' }, 'latest'],
      ['eth_call', { to: null }, 'latest'],
      ['eth_estimateGas', { to: other }],
      ['eth_sendTransaction', { from: listed, to: other }],
      ['eth_sendTransaction', { from: listed, data: '0x00' }],
      ['personal_sendTransaction', { from: listed, to: other }, 'x'],
      ['eth_sendRawTransaction', raw(`94${bare}`)],
      ['eth_sendRawTransaction', raw('80')],
      ['eth_sendRawTransaction', raw(`d4${listed.slice(2)}`)],
      ['eth_sendRawTransaction', raw(`b814${listed.slice(2)}`)],
      ['eth_sendRawTransaction', `${raw(`94${listed.slice(2)}`)}00`],
      ['eth_sendRawTransaction', '0x'],
      ['eth_sendRawTransaction', '0xff'],
      ['eth_sendRawTransaction', '0xf9ffffff'],
      ['eth_getLogs', {}],
      ['eth_getLogs', { address: other }],
      ['eth_getLogs', { address: [listed, other] }],
      ['eth_getLogs', { address: [] }],
      ['eth_newFilter', {}],
      ['eth_getBalance', other, 'latest'],
      ['eth_getCode', other, 'latest'],
      ['eth_getStorageAt', other, '0x0', 'latest'],
      ['eth_getProof', other, [], 'latest'],
      ['eth_simulateV1', { blockStateCalls: [{ calls: [{ to: listed }, { to: other }] }] }, 'latest'],
      ['eth_simulateV1', { blockStateCalls: [{ calls: [{}] }] }, 'latest'],
      ['debug_traceCall', { to: other }, 'latest'],
      ['trace_call', { to: other }, ['trace'], 'latest'],
      ['trace_filter', { toAddress: other }],
      ['trace_filter', { fromAddress: listed }],
      ['trace_filter', { toAddress: [] }],
      ['trace_filter', { toAddress: null }],
      ['trace_filter', { toAddress: [listed, other] }],
      ['eth_newFilter', { address: [] }],
      ['eth_newFilter', { address: [listed, other] }],
      ...[{ code: '0x00' }, { state: {} }, { stateDiff: { '0x0': '0x1' } }, { movePrecompileToAddress: other }].flatMap(
        (override) => [
          ['eth_call', { to: listed }, 'latest', { [listed]: override }],
          ['eth_call', { to: listed }, 'latest', { [other]: override }],
          ['eth_estimateGas', { to: listed }, 'latest', { [listed.slice(2)]: override }],
          simulated({ stateOverrides: { [listed]: override }, calls: [{ to: listed }] }),
          simulated({ calls: [{ to: listed }] }, { stateOverrides: { [listed]: override } }),
        ],
      ),
      ['eth_call', { to: listed }, 'latest', { [other]: { balance: '0x1' } }],
      ['eth_call', { to: listed }, 'latest', { [other]: {} }],
      ['eth_estimateGas', { to: listed }, 'latest', { [listed]: { balance: '0x1' }, [other]: { nonce: '0x1' } }],
      simulated({ stateOverrides: { [other]: { balance: '0x1' } }, calls: [{ to: listed }] }),
      ['hardhat_setCode', listed, '0x00'],
      ['hardhat_setStorageAt', listed, '0x0', `0x${'00'.repeat(32)}`],
      ['hardhat_setBalance', other, '0x1'],
      ['hardhat_setNonce', other, '0x1'],
    ].map(([method, ...params]): [string, string, unknown[], object] => [
      'contract',
      String(method),
      params,
      contractError,
    ]),
  ]

  test.each(table)('error: %s: %s %j', async (app, method, params, body) => {
    const path = keys[app] ?? ''
    const core = await reached(async () => {
      const alone = await post({ path, body: callOf(method, params) })
      expect([alone.status, alone.body]).toEqual([403, body])
      for (const name of ['www-authenticate', 'retry-after', 'ratelimit-limit'])
        expect(alone.headers.get(name)).toBeNull()
      const batch = await post({ path, body: `[${callOf(method, params)},${callOf('web3_sha3', ['0x'])}]` })
      expect([batch.status, batch.body]).toEqual([200, [body, { jsonrpc: '2.0', id: 'a', result: 'hash of 2' }]])
      const client = await Client.open(`${url}/${path}`)
      expect(await client.exchange(callOf(method, params))).toEqual(body)
      await client.close()
    })
    expect(core).toEqual(['web3Sha3'])
  })

  test('error: subscriptions to logs of contracts outside the list', async () => {
    const client = await Client.open(`${url}/${keys.contract}`)
    for (const options of [[], [{}], [{ address: [] }], [{ address: other }], [{ address: [listed, other] }]]) {
      expect(await client.exchange(callOf('eth_subscribe', ['logs', ...options]))).toEqual(contractError)
    }
    await client.close()
  })

  test('error: an override of code after another override of the same account', async () => {
    for (const accounts of [
      `{"${listed}":{"code":"0x00"},"${listed}":{}}`,
      `{"${listed}":{},"${listed}":{"code":"0x00"}}`,
      `{"${listed}":{"code":"0x00","code":null}}`,
      `{"${listed}":{"c\\u006fde":"0x00"}}`,
    ]) {
      coreTexts.length = 0
      const params = `[{"to":"${listed}"},"latest",${accounts}]`
      await post({ path: keys.contract ?? '', body: `{"id":1,"method":"eth_estimateGas","params":${params}}` })
      // The core reads the last of equal members, like JSON.parse: see the tests of overrides.rs.
      for (const text of coreTexts.filter((one) => one.startsWith('{'))) {
        const { [listed]: override } = JSON.parse(text) as Record<string, { code?: string | null } | undefined>
        expect(override?.code ?? null).toBeNull()
      }
    }
  })

  test('behavior: listed methods and contracts reach the core, by every alias', async () => {
    const names = [
      ['method', 'web3_sha3', '0x'],
      ['method', 'eth_protocolVersion'],
      ['method', 'chain_protocolVersion'],
      ['contract', 'eth_getBalance', listed.toUpperCase().replace('0X', ''), 'latest'],
      ['contract', 'eth_call', { to: listed }, 'latest'],
      ['contract', 'eth_call', { to: listed }, 'latest', { [listed]: { balance: '0x1', code: null } }],
      ['contract', 'eth_estimateGas', { to: listed }, 'latest', { [listed]: { nonce: '0x1' } }],
      ['contract', 'hardhat_setBalance', listed, '0x1'],
      ['contract', 'trace_filter', { toAddress: [listed] }],
      ['contract', 'eth_sendRawTransaction', raw(`94${listed.slice(2)}`)],
      ['contract', 'eth_getTransactionCount', other, 'latest'],
      ['contract', 'eth_chainId'],
    ]
    for (const [app, method, ...params] of names) {
      const core = await reached(() => post({ path: keys[String(app)] ?? '', body: callOf(String(method), params) }))
      expect([method, core.length]).toEqual([method, 1])
    }
  })

  test('behavior: notifications are refused, too', async () => {
    const notification = '{"jsonrpc":"2.0","method":"eth_chainId","params":[]}'
    expect(
      await reached(() =>
        fetch(`${url}/${keys.method}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: notification,
        }),
      ),
    ).toEqual([])
  })
})

describe('refused by a limit', () => {
  const tooMany = (id: string | null) => errorOf(-32005, 'Too many requests', id)
  const exceeded = (id: string | null) => errorOf(-32005, 'Quota exceeded', id)
  const table: [string, (id: string | null) => object, number][] = [
    ['rate', tooMany, 1],
    ['daily', exceeded, 86_400],
    ['monthly', exceeded, 31 * 86_400],
  ]

  test('behavior: the description of the node costs by its size', async () => {
    const body = callOf('rpc.discover')
    const once = await post({ path: keys.discovering ?? '', body })
    const kilobytes = Math.ceil(JSON.stringify((once.body as { result: object }).result).length / 1000)
    expect(kilobytes).toBeGreaterThan(50)
    expect(once.headers.get('ratelimit-remaining')).toBe(String(100_000 - 5 - kilobytes))
    const batch = await post({ path: keys.discovering ?? '', body: `[${Array(20).fill(body).join()}]` })
    expect(batch.headers.get('ratelimit-remaining')).toBe(String(100_000 - 21 * (5 + kilobytes)))
    expect((await post({ path: keys.daily ?? '', body })).status).toBe(429)
  })

  test.each(table)('error: over its %s limit', async (app, body, longest) => {
    const path = keys[app] ?? ''
    expect((await post({ path })).headers.get('ratelimit-remaining')).toBe('0')
    const core = await reached(async () => {
      const alone = await post({ path })
      expect([alone.status, alone.body]).toEqual([429, body('a')])
      expect(Number(alone.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(alone.headers.get('retry-after'))).toBeLessThanOrEqual(longest)
      expect(alone.headers.get('ratelimit-limit')).toBe('1')
      expect(alone.headers.get('ratelimit-remaining')).toBe('0')
      expect(Number(alone.headers.get('ratelimit-reset'))).toBeLessThanOrEqual(longest)
      expect((await post({ path, body: `[${chainId},${chainId}]` })).body).toEqual(body(null))
      expect((await post({ path, body: 'not JSON' })).body).toEqual(body(null))
      const client = await Client.open(`${url}/${path}`)
      expect(await client.exchange(chainId)).toEqual(body('a'))
      expect(await client.exchange(`[${chainId},{"method":"eth_chainId"},7]`)).toEqual([body('a'), body(null)])
      await client.close()
    })
    expect(core).toEqual([])
  })

  test('error: more at a time than allowed, and free again afterwards', async () => {
    const path = keys.busy ?? ''
    const slow = post({ path, body: callOf('eth_call', [{ to: other }, 'latest']) })
    while (!calls.includes('ethCall')) await new Promise((resolve) => setTimeout(resolve, 5))
    const core = await reached(async () => {
      const alone = await post({ path })
      expect([alone.status, alone.body, alone.headers.get('retry-after')]).toEqual([429, tooMany('a'), '1'])
      expect(alone.headers.get('ratelimit-limit')).toBeNull()
      const client = await Client.open(`${url}/${path}`)
      expect(await client.exchange(chainId)).toEqual(tooMany('a'))
      await client.close()
    })
    expect(core).toEqual([])
    await slow
    expect((await post({ path })).status).toBe(200)
    // A client that disconnects is no longer counted.
    const leaving = new AbortController()
    const left = fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: callOf('eth_call', [{ to: other }, 'latest']),
      signal: leaving.signal,
    }).catch(() => 'left')
    calls.length = 0
    while (!calls.includes('ethCall')) await new Promise((resolve) => setTimeout(resolve, 5))
    leaving.abort()
    expect(await left).toBe('left')
    for (let status = 429, tries = 0; status === 429 && tries < 500; tries++) {
      status = (await post({ path })).status
      if (status === 200) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect.unreachable()
  })

  test('behavior: a batch is charged as a whole before its first request is served', async () => {
    const path = keys.limited ?? ''
    const headers = { origin }
    const first = await post({ path, headers })
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      first.headers.get(`ratelimit-${name}`),
    )
    expect([limit, remaining]).toEqual(['50', '49'])
    expect(Number(reset)).toBeGreaterThan(0)
    expect(first.headers.get('access-control-expose-headers')).toContain('RateLimit-Remaining')
    // 49 units are left: 5 calls at 10 units are too many, 4 are not.
    const calls = (count: number) =>
      `[${Array(count)
        .fill(callOf('eth_estimateGas', [{ to: other }]))
        .join()}]`
    expect(await reached(async () => expect((await post({ path, body: calls(5) })).status).toBe(429))).toEqual([])
    const served = await post({ path, body: calls(4) })
    expect([served.status, served.headers.get('ratelimit-remaining')]).toEqual([200, '9'])
    expect((await post({ path, body: '[7,8]' })).headers.get('ratelimit-remaining')).toBe('7')
    expect((await post({ path, body: 'not JSON' })).headers.get('ratelimit-remaining')).toBe('6')
  })

  test('behavior: usage is counted by app', async () => {
    await accounting.stop()
    const reports = await store.usage.report()
    const of = (app: string) => Object.values(reports.find((one) => one.app === app)?.days ?? {})[0]
    // One served request; refused: alone, as batch, as invalid JSON, and two messages.
    expect(of('rate')).toEqual({ requests: 1, units: 1, errors: 0, refused: 5 })
    expect(of('limited')).toEqual({ requests: 8, units: 44, errors: 7, refused: 1 })
    expect(reports.map(({ app }) => app)).not.toContain('source')
  })
})
