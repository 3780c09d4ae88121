import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, program } from './node.ts'

let node: NodeProcess
let strict: NodeProcess

beforeAll(async () => {
  node = await NodeProcess.start(['--workers', '2'])
  strict = await NodeProcess.start(['--workers', '1'], 'health.maxHeadAgeSeconds = 60\nminer.fixedClock = true\n')
})

afterAll(async () => {
  await Promise.all([node.stop(), strict.stop()])
})

describe('/health', () => {
  test('behavior: a public network without peers is not ready before its head is recent, by default', async () => {
    const stranded = await NodeProcess.start(['--network', 'testnet', '--workers', '1'])
    const settings = 'health.maxHeadAgeSeconds = 0\n'
    const told = await NodeProcess.start(['--network', 'testnet', '--workers', '1'], settings)
    const [refused, served] = await Promise.all([fetch(`${stranded.url}/health`), fetch(`${told.url}/health`)])
    expect([refused.status, served.status]).toEqual([503, 200])
    expect(await refused.json()).toMatchObject({
      live: true,
      ready: false,
      reasons: [
        expect.stringMatching(/^the node runs without peers: blocks come only from rhizome import/),
        expect.stringMatching(/^the head is \d+ s old; at most 300 s are allowed$/),
      ],
    })
    expect(await served.json()).toMatchObject({ ready: true, reasons: [] })
    await Promise.all([stranded.stop(), told.stop()])
  })

  test('behavior: the start on a public network says that there are no peers and where blocks come from', async () => {
    const child = spawn(
      process.execPath,
      [program, 'start', '--ephemeral', '--http-port', '0', '--network', 'mainnet'],
      {
        env: { ...process.env, RHIZOME_P2P_PORT: '0' },
      },
    )
    let output = ''
    child.stdout.on('data', (bytes) => {
      output += bytes
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    await expect.poll(() => output, { timeout: 20_000 }).toContain('JSON-RPC')
    child.kill('SIGINT')
    await ended
    expect(output).toMatch(/peers {5}none: .*rhizome import FILE.*mnr_submitBitcoinBlock/s)
  })

  test('behavior: live, ready, and where the head is', async () => {
    await node.result('evm_mine')
    const head = await node.result<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest'])
    const response = await fetch(`${node.url}/health`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({
      live: true,
      ready: true,
      head: { number: Number(head.number), hash: head.hash, ageSeconds: expect.any(Number) },
      lagBlocks: 0,
      stalledSeconds: null,
      store: null,
      fleet: null,
      reasons: [],
    })
  })

  test('behavior: a head that is too old is 503 with the reason', async () => {
    // With the fixed clock, the head stays at the time of the genesis block, years ago.
    const response = await fetch(`${strict.url}/health`)
    expect(response.status).toBe(503)
    const body = (await response.json()) as { live: boolean; ready: boolean; reasons: string[] }
    expect(body).toMatchObject({ live: true, ready: false })
    expect(body.reasons).toEqual([expect.stringMatching(/^the head is \d+ s old; at most 60 s are allowed$/)])
    expect(await strict.result('eth_blockNumber')).toBe('0x0')
  })

  test('behavior: HEAD has the status and no body', async () => {
    for (const [one, status] of [
      [node, 200],
      [strict, 503],
    ] as const) {
      const response = await fetch(`${one.url}/health`, { method: 'HEAD' })
      expect([response.status, await response.text()]).toEqual([status, ''])
    }
  })

  test('behavior: a POST there is an ordinary request', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${node.url}/health`, {
      method: 'POST',
      headers,
      body: '{"id":1,"method":"eth_chainId"}',
    })
    expect(await response.json()).toMatchObject({ result: '0x21' })
  })

  test('error: a page of a foreign origin, and another path', async () => {
    const foreign = await fetch(`${node.url}/health`, { headers: { origin: 'https://evil.example.org' } })
    expect(foreign.status).toBe(403)
    expect((await fetch(`${node.url}/healthy`)).status).toBe(405)
  })
})
