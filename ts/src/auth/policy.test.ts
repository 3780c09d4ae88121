import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createApp, editApp } from './app.ts'
import { readApps, writeApps } from './appsDocument.ts'
import { changedPolicy, noPolicy, type PolicyChange } from './policy.ts'
import { readSource } from './sources.ts'
import type { TokenKeyInput } from './tokenKey.ts'

const pem = (key: { export(options: object): string | Buffer }, type = 'spki') =>
  key.export({ type, format: 'pem' }).toString()
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

describe('readSource', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.1/32', '10.0.0.1'],
    ['::1', '::1'],
    ['2001:DB8:0::/32', '2001:db8::/32'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0000/104', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('behavior: %s is %s', (sent, canonical) => {
    expect(readSource(sent)).toBe(canonical)
    expect(readSource(canonical)).toBe(canonical)
  })

  test.each([
    '',
    'localhost',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '10.0.0.0/-1',
    '10.0.0.0/8x',
  ])('error: %s', (sent) => expect(readSource(sent)).toBeUndefined())
  test.each(['fe80::1%eth0', '010.0.0.1', '1.2.3.4.5', '[::1]'])('error: %s', (sent) => {
    expect(readSource(sent)).toBeUndefined()
  })
})

describe('changedPolicy', () => {
  const errors: [PolicyChange, RegExp][] = [
    [{ allow: { sources: ['::1', '1.2.3.4/99'] } }, /^allow\.sources\[1\]: "1\.2\.3\.4\/99" is not an IP/],
    [{ allow: { origins: ['https://a.example/path'] } }, /^allow\.origins\[0\]/],
    [{ allow: { origins: ['null'] } }, /^allow\.origins\[0\]/],
    [{ allow: { origins: ['*'] } }, /^allow\.origins\[0\]/],
    [{ allow: { contracts: [`0x${'1'.repeat(39)}`] } }, /^allow\.contracts\[0\]/],
    [{ allow: { methods: ['eth'] } }, /^allow\.methods\[0\]/],
    [{ allow: { methods: ['*'] } }, /^allow\.methods\[0\]/],
    [{ allow: { methods: ['eth_get*'] } }, /^allow\.methods\[0\]/],
    [{ allow: { methods: Array(1001).fill('eth_call') } }, /^allow\.methods: expected at most 1000/],
    [{ jwt: { isRequired: true } }, /^jwt\.isRequired: there is no key/],
    [{ jwt: { audience: '' } }, /^jwt\.audience/],
    [{ limits: { unitsPerSecond: 0 } }, /^limits\.unitsPerSecond: expected a whole number from 1 to 100000000/],
    [{ limits: { dailyUnits: 1.5 } }, /^limits\.dailyUnits/],
    [{ limits: { concurrency: Number.NaN } }, /^limits\.concurrency/],
    [{ limits: { burst: 5 } }, /^limits\.burst: has no meaning without/],
  ]
  test.each(errors)('error: %j', (change, message) => {
    expect(() => changedPolicy(noPolicy, change)).toThrow(message)
  })

  test('behavior: absent members stay, lists are replaced and normalised', () => {
    const first = changedPolicy(noPolicy, {
      allow: {
        origins: ['HTTPS://App.Example:443/', 'http://a:8080', 'chrome-extension://abc'],
        methods: ['eth_*', 'rpc.discover'],
      },
      limits: { unitsPerSecond: 5, burst: 9 },
    })
    expect(first.allow.origins).toEqual(['https://app.example', 'http://a:8080', 'chrome-extension://abc'])
    const second = changedPolicy(first, { allow: { contracts: [`0x${'AB'.repeat(20)}`] }, limits: { burst: null } })
    expect(second).toEqual({
      ...first,
      allow: { ...first.allow, contracts: [`0x${'ab'.repeat(20)}`] },
      limits: { ...first.limits, burst: null },
    })
    expect(changedPolicy(second, {})).toEqual(second)
  })

  const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits })
  const keyErrors: [string, () => TokenKeyInput, RegExp][] = [
    [
      'a private key',
      () => ({ kid: 'a', publicKey: pem(p256.privateKey, 'pkcs8') }),
      /is secret; give the public key$/,
    ],
    ['a private JWK', () => ({ kid: 'a', publicKey: p256.privateKey.export({ format: 'jwk' }) }), /is secret/],
    ['a shared secret', () => ({ kid: 'a', publicKey: { kty: 'oct', k: 'c2VjcmV0' } }), /is secret/],
    ['a short key', () => ({ kid: 'a', publicKey: pem(rsa(1024).publicKey) }), /at least 2048 bits/],
    [
      'another curve',
      () => ({ kid: 'a', publicKey: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey) }),
      /expected an RSA, P-256 or Ed25519 key/,
    ],
    ['no kid', () => ({ publicKey: pem(p256.publicKey) }), /^jwt\.keys\[0\]\.kid/],
    ['a kid with a line break', () => ({ kid: 'a\nb', publicKey: pem(p256.publicKey) }), /kid/],
    [
      'another algorithm',
      () => ({ kid: 'a', publicKey: { ...p256.publicKey.export({ format: 'jwk' }), alg: 'HS256' } }),
      /\.alg: such a key is used with ES256 only/,
    ],
    ['nonsense', () => ({ kid: 'a', publicKey: 'nonsense' }), /expected a public key as PEM/],
    [
      'damaged PEM',
      () => ({ kid: 'a', publicKey: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' }),
      /expected a public key/,
    ],
  ]
  test.each(keyErrors)('error: %s as key for tokens', (_name, input, message) => {
    expect(() => changedPolicy(noPolicy, { jwt: { keys: [input()] } })).toThrow(message)
  })

  test('behavior: keys of three kinds, as PEM, as JWK and as its text', () => {
    const ed = generateKeyPairSync('ed25519').publicKey
    const { jwt } = changedPolicy(noPolicy, {
      jwt: {
        isRequired: true,
        keys: [
          { kid: 'one', publicKey: pem(p256.publicKey) },
          { publicKey: { ...ed.export({ format: 'jwk' }), kid: 'two', alg: 'EdDSA' } },
          { kid: 'three', publicKey: JSON.stringify(rsa(2048).publicKey.export({ format: 'jwk' })) },
        ],
      },
    })
    expect(jwt.keys.map(({ kid, alg }) => [kid, alg])).toEqual([
      ['one', 'ES256'],
      ['two', 'EdDSA'],
      ['three', 'RS256'],
    ])
    expect(changedPolicy({ ...noPolicy, jwt }, {}).jwt).toEqual(jwt)
    const twice = [0, 1].map(() => ({ kid: 'one', publicKey: pem(p256.publicKey) }))
    expect(() => changedPolicy(noPolicy, { jwt: { keys: twice } })).toThrow('jwt.keys: two have the kid "one"')
  })
})

describe('apps', () => {
  const given = { name: 'a', description: '', useCase: '', network: 'regtest', expiresAt: null }

  test('behavior: an edited app keeps its keys, and is read as written', () => {
    const { apps } = createApp([], { ...given, allow: { methods: ['eth_*'] } }, 1)
    const edited = editApp(apps, 'a', { description: 'd', limits: { dailyUnits: 7 } })
    expect(edited).toEqual([{ ...apps[0], description: 'd', limits: { ...noPolicy.limits, dailyUnits: 7 } }])
    expect(readApps(writeApps(edited))).toEqual({ apps: edited })
    expect(() => editApp(apps, 'b', {})).toThrow('name: there is no app "b"')
    expect(() => editApp(apps, 'a', { useCase: 'x\ny' })).toThrow(/^useCase: expected one line/)
    expect(() => createApp([], { ...given, name: '../a' }, 1)).toThrow(/^name: expected/)
  })

  test('behavior: a document of the first version has apps without restrictions', () => {
    const { apps } = createApp([], given, 1)
    const { allow: _allow, jwt: _jwt, limits: _limits, ...old } = apps[0] as (typeof apps)[0]
    expect(readApps(JSON.stringify({ version: 1, apps: [old] }))).toEqual({ apps })
    expect(readApps(JSON.stringify({ version: 1, apps }))).toHaveProperty('problem')
  })

  test('error: a wrong edit of the document is located without showing its content', () => {
    const { apps } = createApp([], { ...given, allow: { sources: ['10.0.0.0/8'] } }, 1)
    const text = writeApps(apps).replace('10.0.0.0/8', '10.0.0.0/secret')
    expect(readApps(text)).toEqual({ problem: 'allow.sources[0] is wrong' })
  })

  test('error: a document with any bit flipped', () => {
    const { apps } = createApp([], { ...given, allow: { sources: ['10.0.0.0/8'] }, limits: { dailyUnits: 1000 } }, 1)
    const bytes = Buffer.from(writeApps(apps))
    const taken: string[] = []
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const { apps: read } = readApps(flipped.toString('latin1'))
      // White space has no meaning, and some white space differs by one bit from other white space.
      if (read !== undefined) expect(read).toEqual(apps)
      if (read !== undefined && (bytes[bit >> 3] ?? 0) > 0x20) taken.push(flipped.toString('latin1'))
    }
    expect(taken).toEqual([])
  })

  test('behavior: a document without a checksum is read', () => {
    const { apps } = createApp([], given, 1)
    expect(readApps(JSON.stringify({ version: 2, apps }))).toEqual({ apps })
  })
})
