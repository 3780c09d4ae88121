import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { configProblems } from '../../tests/configProblems.ts'
import { nodeConfig } from '../nodeConfig.ts'
import { decidedChoices, remascVisibility } from './choices.ts'
import { leaves } from './leaves.ts'
import { loadConfig } from './load.ts'
import {
  callGasCapOf,
  type DatabaseUse,
  databaseMemoryOf,
  dataDirOf,
  estimateOf,
  hasAddressIndex,
  hasWallet,
  miningOf,
  timeoutOf,
  workersOf,
} from './network.ts'
import { defaultFile } from './print.ts'

const folder = mkdtempSync(join(tmpdir(), 'rhizome-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(text: string, name = 'rhizome.toml'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('behavior: without any source everything has its default', () => {
  const config = loadConfig({})
  expect(config).toMatchObject({ network: 'regtest', http: { host: '127.0.0.1', port: 4444 }, modules: {} })
  expect(dataDirOf(config)).toBe(join('data', 'regtest'))
  expect(miningOf(config)).toEqual({ mode: 'auto' })
  expect(hasWallet(config)).toBe(true)
})

test('behavior: the printed default file is the default', () => {
  expect(loadConfig({ file: file(defaultFile()) })).toEqual(loadConfig({}))
})

test('behavior: a setting without a value is in its section of the printed file', () => {
  const lines = defaultFile().match(/^# \w+ =$/gm) ?? []
  expect(lines).toHaveLength(leaves.filter(({ preset }) => preset === undefined).length)
  for (const line of lines) {
    const given = defaultFile().replace(/^# (\w+) =$/gm, (other, name) => (other === line ? `${name} = {}` : other))
    for (const problem of configProblems({ file: file(given) })) expect(problem).not.toMatch(/no such setting/)
  }
})

test('behavior: the printed file names no limit that does not exist', () => {
  expect(defaultFile()).not.toContain('undefined')
  expect(defaultFile()).toContain('# a whole number of at least 0 (RHIZOME_RPC_TIMEOUT_MS)')
})

test('behavior: flags win over the environment, that over the file', () => {
  const path = file('mining = "interval=5"\n[http]\nport = 1\nhost = "::1"\nworkers = 7\n')
  const config = loadConfig({
    file: path,
    environment: { RHIZOME_HTTP_PORT: '2', RHIZOME_HTTP_WORKERS: '8', RHIZOME_HTTP_CORS: 'a.org, b.org', OTHER: 'x' },
    flags: { 'http.port': { value: '3', flag: '--http-port' }, ephemeral: { value: true, flag: '--ephemeral' } },
  })
  expect(config.http).toMatchObject({ host: '::1', port: 3, workers: 8, cors: ['a.org', 'b.org'] })
  expect(miningOf(config)).toEqual({ mode: 'interval', milliseconds: 5000 })
  expect(dataDirOf(config)).toBeNull()
})

test('behavior: the flag of a fork overrides the data directory of the environment', () => {
  const environment = { RHIZOME_DATA_DIR: 'x' }
  const config = loadConfig({ environment, flags: { 'fork.url': { value: 'http://a', flag: '--fork' } } })
  expect(dataDirOf(config)).toBeNull()
  expect(configProblems({ environment: { ...environment, RHIZOME_FORK_URL: 'http://a' } })).toEqual([
    'RHIZOME_FORK_URL: cannot be combined with RHIZOME_DATA_DIR; leave one of them out',
  ])
})

test('error: a data directory for an ephemeral node', () => {
  const flag = { ephemeral: { value: true, flag: '--ephemeral' } }
  const path = file('dataDir = "x"\n')
  expect(configProblems({ flags: { ...flag, dataDir: { value: 'x', flag: '--data-dir' } } })).toEqual([
    '--ephemeral: cannot be combined with --data-dir; leave one of them out',
  ])
  const both = 'ephemeral: cannot be combined with dataDir; leave one of them out'
  expect(configProblems({ settings: { ephemeral: true, dataDir: 'x' } })).toEqual([both])
  expect(configProblems({ file: file('ephemeral = true\n'), environment: { RHIZOME_DATA_DIR: 'x' } })).toEqual([
    both.replace('dataDir', 'RHIZOME_DATA_DIR'),
  ])
  // A flag overrides the file.
  expect(dataDirOf(loadConfig({ file: path, flags: flag }))).toBeNull()
  expect(dataDirOf(loadConfig({ file: path, environment: { RHIZOME_EPHEMERAL: 'true' } }))).toBeNull()
})

test('behavior: public networks neither mine nor sign by default', () => {
  const config = loadConfig({ flags: { network: { value: 'mainnet', flag: '--network' } } })
  expect(miningOf(config)).toEqual({ mode: 'off' })
  expect(hasWallet(config)).toBe(false)
})

test('behavior: numbers of blocks may be numbers', () => {
  const storage = (text: string) => loadConfig({ file: file(`[storage]\n${text}\n`) }).storage
  expect(storage('proofs = 128\nhistory = 2000')).toMatchObject({ proofs: '128', history: '2000' })
  expect(() => storage('proofs = 1.5')).toThrow('storage.proofs: expected a number of blocks, or all, got "1.5"')
})

test('behavior: the database takes less memory on small machines', () => {
  const config = loadConfig({})
  const megabytes = (memory: number, settings = config, use: DatabaseUse = 'node') => {
    const { cacheBytes, trieBytes, writeBufferBytes } = databaseMemoryOf(settings, use, memory * 2 ** 20)
    return [cacheBytes, trieBytes, writeBufferBytes].map((bytes) => bytes / 2 ** 20)
  }
  expect(megabytes(24_000)).toEqual([256, 192, 64])
  expect(megabytes(24_000, config, 'command')).toEqual([256, 4096, 64])
  expect(megabytes(4096, config, 'command')).toEqual([256, 960, 64])
  expect(megabytes(512)).toEqual([64, 64, 32])
  expect(megabytes(16)).toEqual([8, 8, 8])
  expect(megabytes(512, loadConfig({ file: file('[storage]\ncacheMegabytes = 300\n') }))).toEqual([300, 64, 32])
  expect(megabytes(512, loadConfig({ file: file('[storage]\ntrieMegabytes = 100\n') }))).toEqual([64, 100, 32])
})

test('behavior: a fork and test suites have more time for a request, unless a setting says otherwise', () => {
  const fork = { url: 'http://127.0.0.1:1' }
  expect([timeoutOf(loadConfig({})), timeoutOf(loadConfig({ settings: { fork } }))]).toEqual([5000, 60_000])
  // After a reset.
  expect(timeoutOf(loadConfig({}), true)).toBe(60_000)
  expect(timeoutOf(loadConfig({ settings: { tools: true } }))).toBe(60_000)
  expect(timeoutOf(loadConfig({ settings: { fork } }), false)).toBe(5000)
  expect(timeoutOf(loadConfig({ settings: { fork, rpc: { timeoutMs: 0 } } }))).toBe(0)
})

test('behavior: calls of test suites have more gas, and estimates are sufficient', () => {
  const both = (settings: object) => {
    const config = loadConfig({ settings })
    return [callGasCapOf(config), estimateOf(config)]
  }
  expect(both({})).toEqual([10_000_000, 'reference'])
  expect(both({ tools: true })).toEqual([30_000_000, 'tight'])
  const rpc = { callGasCap: 21_000, estimate: 'reference' }
  expect(both({ tools: true, rpc })).toEqual([21_000, 'reference'])
})

test('behavior: the explorer of a development network has an address index, unless a setting says otherwise', () => {
  const hasIndex = (text: string) => hasAddressIndex(loadConfig({ file: file(text) }))
  expect(hasIndex('')).toBe(false)
  expect(hasIndex('[explorer]\nenabled = true\n')).toBe(true)
  expect(hasIndex('network = "mainnet"\n[explorer]\nenabled = true\n')).toBe(false)
  expect(hasIndex('network = "mainnet"\n[index]\naddresses = true\n')).toBe(true)
  expect(hasIndex('[explorer]\nenabled = true\n[index]\naddresses = false\n')).toBe(false)
})

test('behavior: settings of the miner are checked like all others', async () => {
  const settings = loadConfig({ file: file('[miner]\nnotifiedFeesWei = 1000\nfixedClock = true\n') })
  expect(JSON.parse(await nodeConfig(settings))).toMatchObject({
    hasFixedClock: true,
    works: { followPool: null, refreshSeconds: 60, submissionIntervalSeconds: 0, notifiedFeesWei: 1000 },
  })
  const path = file('oldStateRoots = "some"\n[miner]\nrefreshSeconds = 0\n')
  expect(configProblems({ file: path })).toEqual(
    expect.arrayContaining([
      `oldStateRoots: expected unchecked, rskip85, checked, got "some" (${path})`,
      `miner.refreshSeconds: expected a whole number of at least 1 and at most 86400, got 0 (${path})`,
    ]),
  )
})

test('behavior: a chain file decides the network', () => {
  const chain = join(folder, 'mine.json')
  writeFileSync(chain, '{"network":"testnet","chainId":77}')
  const config = loadConfig({ settings: { chain } })
  expect([config.network, miningOf(config).mode, dataDirOf(config)]).toEqual(['testnet', 'off', join('data', 'mine')])
  expect(configProblems({ settings: { chain, network: 'mainnet' } })).toEqual([
    `network: mainnet is given, but ${chain} describes a chain of testnet`,
  ])
})

describe('problems', () => {
  test('error: each problem names its setting and source', () => {
    const path = file('network = "x"\nfoo = 1\n[http]\nport = 99999\nprt = 2\n[modules.evm]\nenabled = "no"\n')
    const found = configProblems({ file: path, environment: { RHIZOME_HTTP_WORKERS: 'many', RHIZOME_NOPE: '1' } })
    expect(found).toEqual(
      expect.arrayContaining([
        `foo: no such setting (${path})`,
        `http.prt: no such setting; did you mean http.port? (${path})`,
        `network: expected regtest, devnet, testnet, mainnet, got "x" (${path})`,
        `http.port: expected a whole number of at least 0 and at most 65535, got 99999 (${path})`,
        'http.workers: expected a whole number of at least 0 and at most 256, got "many" (RHIZOME_HTTP_WORKERS)',
        'RHIZOME_NOPE: no such setting (environment)',
      ]),
    )
    expect(found.some((problem) => problem.startsWith('modules.evm.enabled'))).toBe(true)
  })

  test.each([
    ['http = 5', 'http: expected a table, got 5'],
    ['[listen]\nport = 1', 'listen: expected a list of tables, got {"port":1}'],
    ['[[listen]]', 'listen.0.port: expected a whole number of at least 0 and at most 65535, got nothing'],
    ['[[listen]]\nport = 1\naccess = "open"', 'listen.0.access: expected public, private, got "open"'],
    [
      '[storage]\ncacheMegabytes = 100000000',
      'storage.cacheMegabytes: expected a whole number of at least 8 and at most 1048576, got 100000000',
    ],
    ['[modules.evm]\ndeny = "evm_mine"', 'modules.evm.deny: expected a list of texts, got "evm_mine"'],
    ['metrics.host = ""', 'metrics.host: expected an address, got ""'],
    ['admin.host = ""', 'admin.host: expected an address, got ""'],
    ['p2p.nodeKey = "ab"', 'p2p.nodeKey: expected 64 hex digits, got something else'],
    ['p2p.checkpoints = ["5"]', 'p2p.checkpoints: expected a list of NUMBER:HASH, got ["5"]'],
    ['store = "redis://:secret@a"', 'store: expected a table, got something else'],
    ['[[listen]]\nport = 1\nprot = 2', 'listen.0.prot: no such setting; did you mean listen.0.port?'],
    ['[modules.evm]\nenable = true', 'modules.evm.enable: no such setting; did you mean modules.evm.enabled?'],
    ['rpc.timeout = 5', 'rpc.timeout: no such setting; did you mean rpc.timeoutMs?'],
    ['http-port = 5', 'http-port: no such setting; did you mean http.port?'],
  ])('error: %j', (text, problem) => {
    const path = file(text)
    expect(configProblems({ file: path })).toEqual([`${problem} (${path})`])
  })

  test('error: a variable that is almost one', () => {
    expect(configProblems({ environment: { RHIZOME_P2P_SNAPSERVER: 'true' } })).toEqual([
      'RHIZOME_P2P_SNAPSERVER: no such setting; did you mean RHIZOME_P2P_SNAP_SERVER? (environment)',
    ])
  })

  test('behavior: a file named .json is JSON, by the same schema', () => {
    const json = (content: string): string => file(content, 'rhizome.json')
    expect(loadConfig({ file: json('{"http": {"port": 4445}}') }).http.port).toBe(4445)
    expect(configProblems({ file: json('{"http": {"prot": 4445}}') })[0]).toMatch(/http\.prot/)
    expect(configProblems({ file: json('{"store": {"password": "secret"') })).toEqual([
      expect.stringMatching(/is not JSON$/),
    ])
    expect(configProblems({ file: json('[]') })[0]).toMatch(/expected an object/)
  })

  test('error: a file that is no TOML, or is not there', () => {
    expect(configProblems({ file: file('a = \n') })[0]).toMatch(/rhizome\.toml:1:\d+: /)
    expect(configProblems({ file: join(folder, 'none.toml') })[0]).toMatch(/cannot be read \(ENOENT\)/)
  })

  test('error: an index of inner calls without the address index', () => {
    expect(configProblems({ file: file('[index]\naddresses = false\ncalls = true\n') })).toEqual([
      'index.calls: needs index.addresses, which is false',
    ])
    expect(hasAddressIndex(loadConfig({ file: file('[index]\ncalls = true\n') }))).toBe(true)
  })

  test('error: a mining mode that is none', () => {
    const flags = { mining: { value: 'interval=0', flag: '--mining' } }
    expect(configProblems({ flags })).toEqual([
      'mining: expected auto, off or interval=SECONDS, got "interval=0" (--mining)',
    ])
  })
})

test('behavior: compat decides the choices that are left empty', () => {
  expect(decidedChoices(loadConfig({}))).toMatchObject({ errorStatus: '200', failedEstimate: 'estimate' })
  const mixed = loadConfig({ file: file('compat = "reference"\n[choices]\nfailedEstimate = "estimate"\n') })
  expect(decidedChoices(mixed)).toMatchObject({ errorStatus: '400', failedEstimate: 'estimate', filterPoll: 'mine' })
})

test('behavior: names and defaults for tools are those of development networks without compat = "reference"', () => {
  const of = (content: string) => decidedChoices(loadConfig({ file: file(content) }))
  const forTools = { clientVersion: 'tools', absentBlock: 'latest', failedEstimate: 'estimate' }
  const own = { clientVersion: 'own', absentBlock: 'refuse', failedEstimate: 'estimate' }
  expect(of('')).toMatchObject(forTools)
  expect(of('network = "devnet"\n')).toMatchObject(forTools)
  expect(of('tools = true\n')).toMatchObject({ ...forTools, failedEstimate: 'codeError' })
  expect(of('tools = true\n[choices]\nfailedEstimate = "estimate"\n')).toMatchObject(forTools)
  expect(of('[choices]\nclientVersion = "own"\nabsentBlock = "refuse"\n')).toMatchObject(own)
  expect(of('network = "testnet"\n')).toMatchObject(own)
  expect(of('compat = "reference"\n')).toMatchObject({ ...own, failedEstimate: 'error' })
})

test('behavior: rpc.skipRemasc hides more than the reference, unless compat = "reference"', () => {
  const of = (content: string) => remascVisibility(loadConfig({ file: file(content) }))
  expect(of('')).toBe('listed')
  expect(of('tools = true\n')).toBe('hidden')
  expect(of('[rpc]\nskipRemasc = true\n')).toBe('hidden')
  expect(of('compat = "reference"\n[rpc]\nskipRemasc = true\n')).toBe('unlisted')
})

test('behavior: with tools one worker keeps the order of requests', () => {
  const of = (text: string) => workersOf(loadConfig({ file: file(text) }))
  expect(of('')).toBe(availableParallelism())
  expect(of('tools = true\n')).toBe(1)
  expect(of('tools = true\n[http]\nworkers = 3\n')).toBe(3)
})

test('error: settings for tools on public networks and with compat = "reference"', () => {
  for (const [place, words] of [
    ['network = "mainnet"', 'mainnet'],
    ['network = "testnet"', 'testnet'],
    ['compat = "reference"', 'compat = "reference"'],
  ]) {
    expect(configProblems({ file: file(`${place}\ntools = true\n[choices]\nclientVersion = "tools"\n`) })).toEqual([
      `tools: is for regtest and devnet with compat = "document", not for ${words}`,
      `choices.clientVersion: expected own, got "tools" with ${words}`,
    ])
  }
})
