import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../src/config/load.ts'
import { maxIncompleteMessageBytes } from '../src/settings.ts'
import { configProblems } from './configProblems.ts'
import { configFile, NodeProcess, program, runProgram } from './node.ts'
import { Client } from './webSocket.ts'

const who = `0x${'00'.repeat(20)}`
const dangerous: readonly [method: string, params: unknown[]][] = [
  ['evm_mine', []],
  ['evm_snapshot', []],
  ['hardhat_mine', []],
  ['anvil_setBalance', [who, '0x1']],
  ['debug_traceTransaction', [`0x${'11'.repeat(32)}`]],
  ['personal_listAccounts', []],
  ['sco_peerList', []],
  ['mnr_getWork', []],
  ['eth_sign', [who, '0x00']],
  ['eth_sendTransaction', [{ from: who }]],
  ['eth_signTypedData_v4', [who, {}]],
  ['rsk_shutdown', []],
]

async function ask(url: string, method: string, params: unknown[] = [], headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return {
    status: response.status,
    ...((await response.json()) as { result?: unknown; error?: { code: number; message: string } }),
  }
}

const isShut = (answer: { error?: { code: number; message: string } }) =>
  answer.error?.code === -32601 && answer.error.message.includes('does not exist/is not available')

describe('a node with several addresses', () => {
  let node: NodeProcess
  let urls: readonly string[] = []
  beforeAll(async () => {
    node = await NodeProcess.start(
      ['--workers', '2', '--open'],
      `
      [http]
      cors = ["app.example.org"]
      [modules.debug]
      enabled = true
      [modules.rsk]
      deny = []
      [[listen]]
      port = 0
      access = "public"
      hosts = ["rpc.example.org"]
      cors = ["*"]
      [[listen]]
      port = 0
      host = "0.0.0.0"
      modules.debug.enabled = true
      modules.eth.allow = ["eth_sign", "eth_chainId"]
      [[listen]]
      port = 0
      host = "0.0.0.0"
      access = "private"
      `,
    )
    urls = node.urls
  })
  afterAll(() => node.stop())

  test('behavior: the same chain everywhere', async () => {
    expect(urls).toHaveLength(4)
    for (const url of urls) expect((await ask(url.replace('0.0.0.0', '127.0.0.1'), 'eth_chainId')).result).toBe('0x21')
  })

  test.each(dangerous)('behavior: %s is for private addresses', async (method, params) => {
    const [local = '', open = '', , inside = ''] = urls
    expect(isShut(await ask(open, method, params))).toBe(true)
    if (method === 'rsk_shutdown') return
    expect(isShut(await ask(local, method, params))).toBe(false)
    expect(isShut(await ask(inside.replace('0.0.0.0', '127.0.0.1'), method, params))).toBe(false)
    const client = await Client.open(open)
    const answer = await client.exchange(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    expect(isShut({ error: answer?.error as never })).toBe(true)
    await client.close()
  })

  test('behavior: modules enabled at an address are served only there', async () => {
    const own = urls[2]?.replace('0.0.0.0', '127.0.0.1') ?? ''
    const open = urls[1] ?? ''
    expect(isShut(await ask(own, 'debug_traceTransaction', [`0x${'11'.repeat(32)}`]))).toBe(false)
    expect(isShut(await ask(own, 'eth_sign', [who, '0x00']))).toBe(false)
    expect(isShut(await ask(own, 'eth_gasPrice'))).toBe(true)
    expect(isShut(await ask(own, 'evm_mine'))).toBe(true)
    expect(isShut(await ask(open, 'eth_gasPrice'))).toBe(false)
  })

  test('behavior: each address lists its methods', async () => {
    const modules = async (url = '') => Object.keys((await ask(url, 'rpc_modules')).result as object)
    expect(await modules(urls[0])).toContain('personal')
    const open = await modules(urls[1])
    for (const name of ['debug', 'evm', 'hardhat', 'mnr', 'personal', 'sco']) expect(open).not.toContain(name)
    expect(open).toContain('eth')
    const document = (await ask(urls[1] ?? '', 'rpc_discover')).result as { methods: { name: string }[] }
    const names = document.methods.map(({ name }) => name)
    for (const [method] of dangerous) expect(names).not.toContain(method)
  })

  test('behavior: separate hosts and origins', async () => {
    const [local = '', open = ''] = urls
    const origin = { origin: 'https://elsewhere.example.com' }
    expect((await ask(local, 'eth_chainId', [], origin)).status).toBe(403)
    expect((await ask(open, 'eth_chainId', [], origin)).status).toBe(200)
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)
    if (outside !== undefined) {
      const port = new URL(urls[2] ?? '').port
      expect((await ask(`http://${outside.address}:${port}`, 'eth_chainId')).result).toBe('0x21')
      await expect(ask(`http://${outside.address}:${new URL(local).port}`, 'eth_chainId')).rejects.toThrow()
    }
  })

  test('behavior: the log names modules that are enabled without effect', () => {
    const lines = node.errors.split('\n').filter((line) => line.includes('modules not served on a public address'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ address: 'listen.0', modules: ['debug'] }])
  })
})

describe('settings', () => {
  const problems = (settings: object) => configProblems({ settings })

  test.each([
    [{ http: { trustedProxies: ['10.0.0.0/8', 'proxy'] } }, /^http\.trustedProxies: expected .*got "proxy"$/],
    [{ http: { access: 'open' } }, /^http\.access: expected public, private, got "open"/],
    [{ listen: [{ port: 4444 }] }, /^listen\.0: 127\.0\.0\.1:4444 is the address of http already$/],
    [{ listen: [{}] }, /^listen\.0/],
    [{ listen: [{ port: 1, adress: 'x' }] }, /^listen\.0\.adress: no such setting/],
    [{ listen: [{ port: 1, tlsKey: 'x' }] }, /^listen\.0\.tlsCert: is needed/],
    [{ listen: [{ port: 1, host: '' }] }, /^listen\.0\.host/],
  ])('error: %j', (settings, message) => {
    expect(problems(settings)).toEqual([expect.stringMatching(message)])
  })

  test.each<[object, boolean]>([
    [{ http: { host: '0.0.0.0', access: 'private' } }, true],
    [{ http: { host: '0.0.0.0' } }, false],
    [{ http: { host: '0.0.0.0', modules: { personal: { enabled: true } } } }, true],
    [{ http: { host: '0.0.0.0', modules: { eth: { deny: [] } } } }, true],
    [{ http: { host: '0.0.0.0', modules: { eth: { timeoutMs: { eth_call: 100 } } } } }, false],
    [{ listen: [{ port: 1, host: '::', access: 'private' }] }, true],
  ])('behavior: whether %j exposes accounts of a network with real money', (settings, isRefused) => {
    const refused = problems({ network: 'mainnet', wallet: true, ...settings })
    expect(refused.some((problem) => problem.startsWith('wallet: '))).toBe(isRefused)
    expect(problems({ network: 'mainnet', wallet: true, walletExposed: true, ...settings })).toEqual([])
  })

  test('error: a further address that other machines reach requires keys, too', async () => {
    const { code, errors } = await runProgram([
      program,
      'start',
      '--ephemeral',
      '--config',
      configFile('[[listen]]\nport = 0\nhost = "0.0.0.0"\n'),
    ])
    expect([code, errors]).toEqual([2, expect.stringContaining('listen.0.host: other machines can reach 0.0.0.0')])
  })
})

describe('memory of incomplete WebSocket messages', () => {
  const megabytesOf = (settings: object) => maxIncompleteMessageBytes(loadConfig({ settings })) / 2 ** 20

  test.each<[object, number]>([
    [{}, 10_000 * 2 * 5],
    [{ http: { host: '0.0.0.0' } }, 10_000 * 2],
    [{ http: { host: '0.0.0.0' }, listen: [{ port: 1 }] }, 10_000 * 2 * 5],
    [{ ws: { maxConnections: 100, maxMessageBytes: 2 ** 20 } }, 200],
    [{ ws: { enabled: false } }, 0],
  ])('behavior: the sum with %j', (settings, megabytes) => {
    expect(megabytesOf(settings)).toBe(megabytes)
  })

  const text = 'incomplete WebSocket messages may exceed limits.memoryMegabytes'

  test.each<[string, string[], string, object[]]>([
    [
      'that other machines reach',
      ['--http-host', '0.0.0.0', '--open'],
      '',
      [{ megabytes: 20_000, memoryMegabytes: 512 }],
    ],
    ['within the limit', ['--http-host', '0.0.0.0', '--open'], '[ws]\nmaxMessageBytes = 26000', []],
    ['on loopback', [], '', []],
  ])('behavior: warning at the start of a node %s', async (_node, flags, settings, warnings) => {
    const node = await NodeProcess.start(flags, settings)
    const lines = node.errors.split('\n').filter((line) => line.includes(text))
    await node.stop()
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(warnings)
  })
})
