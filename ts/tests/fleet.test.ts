import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeCertificate } from './certificate.ts'
import { describeWithNats, NatsProcess } from './natsServer.ts'
import { NodeProcess, scratchFolder } from './node.ts'

// Each test starts several nodes and a server, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const json = { 'content-type': 'application/json' }

interface Health {
  readonly ready: boolean
  readonly fleet: { readonly role: string; readonly isConnected: boolean; readonly failure: string | null } | null
  readonly reasons: readonly string[]
}

interface BlockHead {
  readonly number: string
  readonly hash: string
}

function startNode(role: string, url: string, settings = '', ...flags: string[]): Promise<NodeProcess> {
  const folder = flags.includes('--data-dir') ? [] : ['--data-dir', join(scratchFolder(), 'data')]
  return NodeProcess.start(
    ['--workers', '2', '--fleet', role, '--fleet-url', url, ...folder, ...flags],
    `metrics.enabled = true\nmetrics.port = 0\n${settings}`,
  )
}

function latest(node: NodeProcess): Promise<BlockHead> {
  return node.result<BlockHead>('eth_getBlockByNumber', ['latest', false])
}

async function health(node: NodeProcess): Promise<Health & { readonly status: number }> {
  const response = await fetch(`${node.url}/health`)
  return { status: response.status, ...((await response.json()) as Health) }
}

async function figure(node: NodeProcess, name: string): Promise<number> {
  const page = await (await fetch(node.metricsUrl ?? '')).text()
  return Number(new RegExp(`^${name}(?:{[^}]*})? (.*)$`, 'm').exec(page)?.[1])
}

/** Asks until the value is as expected; the test has a time limit. */
async function until<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isThere(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Waits until all nodes have the head of the first. */
async function agree(...nodes: NodeProcess[]): Promise<BlockHead> {
  const heads = await until(
    () => Promise.all(nodes.map(latest)),
    (all) => all.every(({ hash }) => hash === all[0]?.hash),
  )
  return heads[0] as BlockHead
}

/** Returns status and headers of a request for the number of the block. */
async function numberWith(node: NodeProcess, headers: Record<string, string> = {}) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'
  const response = await fetch(node.url, { method: 'POST', headers: { ...json, ...headers }, body })
  const { result } = (await response.json()) as { result?: string }
  return {
    status: response.status,
    number: Number(result),
    head: response.headers.get('x-rhizome-head'),
    retryAfter: response.headers.get('retry-after'),
  }
}

describeWithNats('one importer and two replicas', () => {
  let nats: NatsProcess
  let importer: NodeProcess
  let first: NodeProcess
  let second: NodeProcess
  const place = join(scratchFolder(), 'data')

  beforeAll(async () => {
    nats = await NatsProcess.start()
    importer = await startNode('importer', nats.url)
    first = await startNode('replica', nats.url, '', '--data-dir', place)
    second = await startNode('replica', nats.url, 'fleet.latest = "agreed"')
  })
  afterAll(async () => {
    await Promise.all([importer, first, second].map((node) => node?.stop('SIGKILL')))
    await nats.kill()
  })

  test('behavior: blocks of the importer, and transactions of any node, reach all nodes', async () => {
    const [from, to] = await first.result<[string, string]>('eth_accounts')
    const hashes: string[] = []
    for (const node of [importer, first, second]) {
      const hash = await node.result<string>('eth_sendTransaction', [{ from, to, value: '0x1', gasPrice: '0x1' }])
      hashes.push(hash)
      // The importer mines at once; the sender waits for its own block.
      await until(
        () => node.result<object | null>('eth_getTransactionReceipt', [hash]),
        (receipt) => receipt !== null,
      )
    }
    const head = await agree(importer, first, second)
    expect(head.number).toBe('0x3')
    for (const node of [importer, first, second])
      for (const hash of hashes)
        expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    expect(await figure(first, 'rhizome_fleet_up')).toBe(1)
    expect(await figure(first, 'rhizome_fleet_log_received_total')).toBe(3)
    expect(await health(first)).toMatchObject({ status: 200, fleet: { role: 'replica', failure: null } })
  })

  test('behavior: the dashboard uses all metrics of a fleet, and only these', async () => {
    const page = await (await fetch(first.metricsUrl ?? '')).text()
    const served = new Set(page.match(/^rhizome_fleet_\w+/gm))
    const board = readFileSync(new URL('../../docs/grafana.json', import.meta.url), 'utf8')
    expect(new Set(board.match(/rhizome_fleet_\w+/g))).toEqual(served)
  })

  test('behavior: a read waits for the head that it names, and answers name theirs', async () => {
    await importer.result('evm_mine')
    const { number, head } = await numberWith(importer)
    expect(head).toBe(`${number} ${(await latest(importer)).hash}`)
    for (const node of [first, second]) {
      const read = await numberWith(node, { 'If-Head-At-Least': String(number) })
      expect(read).toMatchObject({ status: 200, number, head })
    }
    const late = await numberWith(first, { 'If-Head-At-Least': String(number + 1) })
    expect(late).toMatchObject({ status: 503, retryAfter: '1' })
    expect((await numberWith(first, { 'If-Head-At-Least': 'x' })).status).toBe(400)
    const waiting = numberWith(second, { 'If-Head-At-Least': String(number + 1) })
    await importer.result('evm_mine')
    expect(await waiting).toMatchObject({ status: 200, number: number + 1 })
  })

  test('error: what is in no block is refused, and a replica does not mine', async () => {
    const [account] = await first.result<[string]>('eth_accounts')
    for (const node of [importer, first]) {
      const refused = async (method: string, params: unknown[]) =>
        expect(await node.ask(method, params)).toMatchObject({
          error: { code: -32000, message: expect.stringMatching(`^${method} is not served in a fleet`) },
        })
      await refused('hardhat_setBalance', [account, '0x1'])
      await refused('hardhat_setNonce', [account, '0x99'])
      await refused('hardhat_setCode', [account, '0x00'])
      await refused('hardhat_setStorageAt', [account, '0x0', `0x${'0'.repeat(64)}`])
      await refused('hardhat_impersonateAccount', [account])
      await refused('anvil_autoImpersonateAccount', [true])
      await refused('anvil_rollback', [1])
      await refused('anvil_reorg', [1, []])
      await refused('evm_revert', ['0x1'])
      await refused('evm_reset', [])
      await refused('hardhat_reset', [{ forking: { jsonRpcUrl: first.url } }])
    }
    for (const method of ['evm_mine', 'hardhat_mine', 'evm_startMining', 'mnr_getWork'])
      expect(await first.ask(method)).toMatchObject({
        error: { code: -32000, message: expect.stringMatching('is not served by a replica') },
      })
  })

  test('behavior: kills of a replica and of the server in the middle lose nothing', async () => {
    const mining = (async () => {
      for (let count = 0; count < 60; count++) await importer.result('evm_mine')
    })()
    await until(
      () => latest(first),
      ({ number }) => Number(number) > 10,
    )
    await first.stop('SIGKILL')
    await nats.kill()
    await mining
    const away = await until(
      () => health(second),
      ({ fleet }) => fleet?.failure !== null,
    )
    expect(away.fleet?.failure).toMatch(/NATS server/)
    expect(await figure(second, 'rhizome_fleet_up')).toBe(0)
    expect(Number((await latest(second)).number)).toBeGreaterThan(5)
    await until(
      async () => second.errors,
      (log) => log.includes('the fleet is away'),
    )
    await nats.restart()
    first = await startNode('replica', nats.url, '', '--data-dir', place)
    const head = await agree(importer, first, second)
    expect(Number(head.number)).toBeGreaterThanOrEqual(65)
    const read = await figure(first, 'rhizome_fleet_log_received_total')
    expect(read).toBeLessThan(Number(head.number))
    await until(
      () => health(second),
      ({ ready, fleet }) => ready && fleet?.failure === null,
    )
  })
})

describeWithNats('a fleet with TLS and users', () => {
  test('behavior: the rights of docs/fleet.md suffice, over TLS', async () => {
    const folder = scratchFolder()
    const { cert, key } = makeCertificate(join(folder, 'tls'), 'localhost', false)
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8')
    const users = /^```\n(authorization {[\s\S]*?)^```/m.exec(page)?.[1] ?? ''
    expect(users).toContain('user: replica')
    const tls = `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`
    const nats = await NatsProcess.start(`max_payload: 16MB\n${tls}\n${users.replaceAll('...', 'right')}`)
    const url = nats.url.replace('nats://', 'tls://')
    const start = (role: string, password: string) => {
      const file = join(folder, `${role}-${password}`)
      writeFileSync(file, `${role}:${password}\n`)
      const files = `fleet.tlsCa = ${JSON.stringify(cert)}\nfleet.credentials = ${JSON.stringify(file)}\n`
      const settings = `${files}fleet.changes = ["blocks"]\n`
      return startNode(role, url, settings)
    }
    const nodes = await Promise.all([start('importer', 'right'), start('replica', 'right'), start('replica', 'wrong')])
    const [importer, replica, stranger] = nodes
    const [from, to] = await replica.result<[string, string]>('eth_accounts')
    const hash = await replica.result<string>('eth_sendTransaction', [{ from, to, value: '0x1', gasPrice: '0x1' }])
    await until(
      () => replica.result<object | null>('eth_getTransactionReceipt', [hash]),
      (receipt) => receipt !== null,
    )
    expect((await agree(importer, replica)).number).toBe('0x1')
    for (const node of [importer, replica]) expect(await health(node)).toMatchObject({ fleet: { failure: null } })
    // One of them publishes the block, and the other one knows the stream.
    const sequences = () =>
      Promise.all([importer, replica].map((node) => figure(node, 'rhizome_fleet_changes_sequence')))
    await until(sequences, (all) => all.every((sequence) => sequence > 0))
    const { fleet } = await until(
      () => health(stranger),
      (one) => one.fleet?.failure !== null,
    )
    expect(fleet?.failure).toMatch(/rejects the credentials/)
    await Promise.all(nodes.map((node) => node.stop()))
    await nats.kill()
  })
})

describeWithNats('settings of a fleet', () => {
  test('error: settings that contradict each other are named', async () => {
    const refused = (settings: string) => NodeProcess.start([], settings).catch((error: Error) => error.message)
    expect(await refused('fleet.role = "importer"')).toMatch(/fleet\.url: a node of a fleet needs/)
    const replica = 'fleet.role = "replica"\nfleet.url = "nats://127.0.0.1:1"\n'
    expect(await refused(`${replica}mining = "auto"`)).toMatch(/mining: a replica does not mine/)
    expect(await refused('fleet.role = "replica"\nfleet.url = "http://a"')).toMatch(/fleet\.url/)
    expect(await refused(`${replica}fleet.credentials = "/absent"`)).toMatch(/\/absent cannot be read/)
  })

  test('error: a server with small messages is named in health, and the node serves', async () => {
    const nats = await NatsProcess.start('max_payload: 1MB')
    const node = await startNode('importer', nats.url)
    const { fleet, status } = await until(
      () => health(node),
      (one) => one.fleet?.failure !== null,
    )
    expect([status, fleet?.failure]).toEqual([200, expect.stringContaining('max_payload of the NATS server')])
    await node.result('evm_mine')
    await node.stop()
    await nats.kill()
  })
})
