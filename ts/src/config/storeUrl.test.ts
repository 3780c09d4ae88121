import { describe, expect, test } from 'vitest'
import { configProblems } from '../../tests/configProblems.ts'
import { loadConfig, type Sources } from './load.ts'
import { defaultFile, withoutSecrets } from './print.ts'
import { storeAddress } from './storeUrl.ts'

const parsed = (url: string, password = '') => storeAddress({ url, password, prefix: '', whenAway: 'closed' })

describe('storeAddress', () => {
  test.each([
    ['redis://a', { host: 'a', port: 6379, hasTls: false, database: 0 }],
    ['redis://a.b:1/7', { host: 'a.b', port: 1, hasTls: false, database: 7 }],
    ['rediss://[::1]:1/', { host: '::1', port: 1, hasTls: true, database: 0 }],
    ['redis://:p%40s%2Fs@a', { host: 'a', port: 6379, hasTls: false, database: 0, password: 'p@s/s' }],
    ['redis://me:x@a', { host: 'a', port: 6379, hasTls: false, database: 0, username: 'me', password: 'x' }],
    ['unix:///run/a%20b.sock', { path: '/run/a b.sock', hasTls: false, database: 0 }],
    ['unix:/run/redis.sock?db=3', { path: '/run/redis.sock', hasTls: false, database: 3 }],
    ['embedded', 'embedded'],
  ])('behavior: %s', (url, address) => {
    expect(parsed(url)).toEqual(address)
  })

  test('behavior: the password of the URL wins over the other one', () => {
    expect(parsed('redis://a', 'given')).toMatchObject({ password: 'given' })
    expect(parsed('redis://:own@a', 'given')).toMatchObject({ password: 'own' })
    expect(parsed('unix:///s', 'given')).toMatchObject({ password: 'given' })
  })

  test.each([
    'redis://',
    'redis://a:port',
    'redis://a:70000',
    'redis://a/zero',
    'redis://a/-1',
    'redis://a/1/2',
    'redis://a?db=1',
    'redis://a#b',
    'redis://:%zz@a',
    'redis://:a/b@c',
    'unix://host/run/s',
    'unix:/',
    'unix:///s?db=x',
    'unix:///s?password=secret',
  ])('error: %s', (url) => {
    expect(parsed(url)).toBeUndefined()
    expect(configProblems({ settings: { store: { url } } })).toEqual([
      expect.stringMatching(/^store\.url: (cannot be read|expected)/),
    ])
  })
})

describe('secrets', () => {
  test('behavior: problems of the store never contain its URL', () => {
    const sources: Sources[] = [
      { settings: { store: { url: 'https://:secret@a' } } },
      { settings: { store: { url: 'redis://:secret@a:x' } } },
      { settings: { store: { url: ['secret'], password: { secret: 1 } } } },
      { environment: { RHIZOME_STORE_URL: 'redis:secret' } },
      { flags: { 'store.url': { value: 'redis //secret', flag: '--store' } } },
    ]
    for (const one of sources) {
      expect(configProblems(one).length).toBeGreaterThan(0)
      expect(configProblems(one).join('\n')).toMatch(/^store\.\w+: /)
      expect(configProblems(one).join('\n')).not.toContain('secret')
    }
  })

  test('behavior: a printed configuration has no secrets, and all other settings', () => {
    const settings = { store: { url: 'redis://:secret@a', password: 'secret', prefix: 'x:' } }
    const shown = withoutSecrets(loadConfig({ settings }))
    expect(shown.store).toEqual({ url: '(not shown)', password: '(not shown)', prefix: 'x:', whenAway: 'closed' })
    expect(withoutSecrets(loadConfig({}))).toEqual(loadConfig({}))
    expect(defaultFile()).toContain('url = "embedded"')
  })

  test('behavior: the environment has a place for the password', () => {
    const environment = { RHIZOME_STORE_URL: 'redis://a', RHIZOME_STORE_PASSWORD: 'secret' }
    expect(storeAddress(loadConfig({ environment }).store)).toMatchObject({ host: 'a', password: 'secret' })
  })
})
