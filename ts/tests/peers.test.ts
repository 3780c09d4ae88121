import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BanView, PeerList, PeerView, Refusal } from '../src/admin/shapes.ts'
import { freePort } from './freePort.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'
import { Client } from './webSocket.ts'

interface OwnInfo {
  readonly enode: string
  readonly id: string
  readonly ports: { readonly listener: number; readonly discovery: number }
  readonly protocols: { readonly rsk: { readonly head: string; readonly genesis: string; readonly network: number } }
}

interface ConnectedPeer {
  readonly enode: string
  readonly id: string
  readonly name: string
  readonly caps: string[]
  readonly network: { readonly remoteAddress: string; readonly inbound: boolean; readonly static: boolean }
  readonly score: number
  readonly bytesOut: number
  readonly protocols: { readonly rsk: { readonly head: string; readonly number?: number; readonly difficulty: string } }
}

/** A node with a port for peers and an admin address. */
async function start(...flags: string[]): Promise<NodeProcess> {
  const port = String(await freePort())
  return NodeProcess.start(['--workers', '1', '--p2p-port', port, '--admin-port', '0', ...flags])
}

const infoOf = (node: NodeProcess) => node.result<OwnInfo>('admin_nodeInfo')
const peersOf = (node: NodeProcess) => node.result<ConnectedPeer[]>('admin_peers')
const countOf = (node: NodeProcess) => node.result<string>('net_peerCount')
const patient = { timeout: 20_000 }

describe('two nodes', () => {
  let first: NodeProcess
  let second: NodeProcess

  beforeAll(async () => {
    first = await start()
    second = await start()
  })
  afterAll(() => Promise.all([first.stop(), second.stop()]))

  async function connect(): Promise<void> {
    expect(await second.result('admin_addPeer', [(await infoOf(first)).enode])).toBe(true)
    for (const node of [first, second]) await expect.poll(() => countOf(node), patient).toBe('0x1')
  }

  async function separate(): Promise<void> {
    await second.result('admin_removePeer', [(await infoOf(first)).enode])
    for (const node of [first, second]) await expect.poll(() => countOf(node), patient).toBe('0x0')
  }

  const api = async <T>(node: NodeProcess, method: string, path: string, body?: object) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${node.adminUrl}${path}`, { method, headers, ...content })
    return { status: response.status, body: (await response.json()) as T }
  }
  const command = (node: NodeProcess, ...words: string[]) =>
    runCommand(['peers', ...words, '--admin-port', new URL(node.adminUrl ?? '').port])

  test('behavior: a node describes itself', async () => {
    const { enode, id, ports, protocols } = await infoOf(first)
    expect(enode).toBe(`enode://${id}@127.0.0.1:${ports.listener}`)
    expect(ports.discovery).toBe(0)
    const { hash } = await first.result<{ hash: string }>('eth_getBlockByNumber', ['0x0', false])
    expect(protocols.rsk).toMatchObject({ genesis: hash, head: hash })
    expect(await first.result('net_listening')).toBe(true)
    expect([await countOf(first), await peersOf(first), await first.result('net_peerList')]).toEqual(['0x0', [], []])
  })

  test('behavior: both sides list each other, with direction, program and head', async () => {
    await connect()
    const ids = { first: await infoOf(first), second: await infoOf(second) }
    const [inbound, outbound] = [(await peersOf(first))[0], (await peersOf(second))[0]]
    expect(inbound).toMatchObject({ id: ids.second.id, enode: ids.second.enode, caps: ['rsk/62', 'rhz/1'] })
    expect(inbound?.network).toMatchObject({ inbound: true, static: false })
    expect(outbound).toMatchObject({ id: ids.first.id, enode: ids.first.enode, score: 0 })
    expect(outbound?.network).toMatchObject({ inbound: false, static: true })
    expect(outbound?.name).toMatch(/^Rhizome\/v/)
    expect(outbound?.bytesOut).toBeGreaterThan(100)
    const shown = (await first.result<string[]>('net_peerList'))[0]
    expect(shown).toBe(`${ids.second.id} | 127.0.0.1/${inbound?.network.remoteAddress}`)
    await separate()
  })

  test('behavior: blocks of one node become the head of the other, and the stated head follows', async () => {
    await connect()
    for (let block = 0; block < 3; block++) await first.result('evm_mine')
    const mined = await first.result('eth_blockNumber')
    await expect.poll(() => second.result('eth_blockNumber'), patient).toBe(mined)
    const head = (await infoOf(first)).protocols.rsk.head
    expect((await infoOf(second)).protocols.rsk.head).toBe(head)
    await expect.poll(() => second.result('eth_syncing'), patient).toBe(false)
    const stated = async () => (await peersOf(second))[0]?.protocols.rsk
    await expect.poll(stated, { timeout: 25_000 }).toMatchObject({ head, number: Number(mined) })
    await separate()
  })

  test('behavior: a removed peer is not dialled any more', async () => {
    await connect()
    const { enode, id } = await infoOf(first)
    expect(await second.result('admin_removePeer', [id])).toBe(true)
    for (const node of [first, second]) await expect.poll(() => countOf(node), patient).toBe('0x0')
    expect(await second.result('admin_removePeer', [enode])).toBe(false)
    expect((await api<PeerList>(second, 'GET', '/api/peers')).body.dialled).toEqual([])
  })

  test('behavior: scores count events of nodes and addresses', async () => {
    await connect()
    const { id } = await infoOf(first)
    type Score = { id: string; type: string; successfulHandshakes: number; goodReputation: boolean }
    const scores = await second.result<Score[]>('sco_peerList')
    const [node, address] = ['node', 'address'].map((type) => scores.find((score) => score.type === type))
    expect(node).toMatchObject({ id: id.slice(0, 8), goodReputation: true })
    expect(node?.successfulHandshakes).toBeGreaterThan(0)
    expect(address).toMatchObject({ id: '127.0.0.1', successfulHandshakes: node?.successfulHandshakes })
    expect(await second.result('sco_reputationSummary')).toMatchObject({ count: 2, goodReputationCount: 2 })
    const left = await second.result<Score[]>('sco_clearPeerScoring', [id])
    expect(left.map(({ type }) => type)).toEqual(['address'])
    await separate()
  })

  test('behavior: a banned node is disconnected and refused until the ban is lifted', async () => {
    await connect()
    const { id } = await infoOf(second)
    expect((await api(first, 'POST', '/api/bans', { target: id, seconds: 600 })).status).toBe(201)
    for (const node of [first, second]) await expect.poll(() => countOf(node), patient).toBe('0x0')
    const [ban] = (await api<PeerList>(first, 'GET', '/api/peers')).body.bans as [BanView]
    expect(ban.target).toBe(id)
    const left = Date.parse(ban.until ?? '') - Date.now()
    expect(left > 500_000 && left <= 601_000).toBe(true)
    // It still dials.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(await countOf(first)).toBe('0x0')
    // Node ids are not part of the list of the reference, which knows addresses only.
    expect(await first.result('sco_bannedAddresses')).toEqual([])
    expect((await api(first, 'DELETE', `/api/bans/${id}`)).status).toBe(200)
    await expect.poll(() => countOf(first), patient).toBe('0x1')
    await separate()
  })

  test('behavior: banned addresses and blocks of addresses', async () => {
    for (const target of ['203.0.113.7', '2001:db8::/64']) {
      expect((await api(first, 'POST', '/api/bans', { target, seconds: null })).status).toBe(201)
    }
    expect(await first.result('sco_bannedAddresses')).toEqual(['203.0.113.7', '2001:db8:0:0:0:0:0:0/64'])
    const { bans } = (await api<PeerList>(first, 'GET', '/api/peers')).body
    expect(bans.map(({ until }) => until)).toEqual([null, null])
    for (const { target } of bans) {
      const path = `/api/bans/${encodeURIComponent(target)}`
      expect([(await api(first, 'DELETE', path)).status, (await api(first, 'DELETE', path)).status]).toEqual([200, 404])
    }
    expect(await first.result('sco_bannedAddresses')).toEqual([])
  })

  test('behavior: rhizome peers lists, adds, bans and removes', async () => {
    const [{ enode, id }, own] = [await infoOf(first), await infoOf(second)]
    expect((await command(second)).output).toBe(`no peers\nthis node: ${own.enode}\n`)
    expect(await command(second, 'add', enode)).toMatchObject({ code: 0, output: `${enode} is dialled from now on\n` })
    await expect.poll(() => countOf(second), patient).toBe('0x1')
    const lines = (await command(second, 'list')).output.split('\n')
    expect(lines[0]).toMatch(/^NODE +HEAD +SCORE +SECONDS +ADDRESS +PROGRAM$/)
    expect(lines[1]).toMatch(
      new RegExp(`^${id.slice(0, 16)}  out, named +\\d+ +\\d+ +\\d+ +127\\.0\\.0\\.1:\\d+ +Rhizome/v`),
    )
    const listed = JSON.parse((await command(second, 'list', '--json')).output) as PeerList
    expect(listed).toMatchObject({ enode: own.enode, dialled: [enode], bans: [] })
    expect(listed.peers.map((peer: PeerView) => [peer.id, peer.direction, peer.isStatic])).toEqual([[id, 'out', true]])

    const banned = await command(second, 'ban', id.slice(0, 16), '--for', '60')
    expect(banned).toMatchObject({ code: 0, output: `${id} is banned for 60 s\n` })
    await expect.poll(() => countOf(second), patient).toBe('0x0')
    const alone = (await command(second)).output.split('\n')
    expect(alone.slice(0, 2)).toEqual(['no peers', `dialled, not connected: ${enode}`])
    expect(alone[2]).toMatch(new RegExp(`^banned: ${id} until 20\\d\\d-`))
    expect((await command(second, 'unban', id.slice(0, 8))).output).toBe(`${id} is admitted\n`)
    expect(await command(second, 'remove', enode)).toMatchObject({ code: 0, output: `${id} is removed\n` })
    expect(JSON.parse((await command(second, 'list', '--json')).output)).toMatchObject({ dialled: [], bans: [] })
  })

  test('error: arguments of rhizome peers', async () => {
    const enode = (await infoOf(first)).enode.replace('127.0.0.1', '')
    for (const [words, reason] of [
      [['add', 'nonsense'], /^rhizome: enode: invalid enode/],
      [['add', enode], /^rhizome: enode: invalid enode/],
      [['remove', '12345678'], /no peer and no ban begins with it/],
      [['remove', 'ab'.repeat(64)], /there is no such peer/],
      [['ban', '127.0.0.1'], /^rhizome: target: expected a node id/],
      [['ban', '203.0.113.7', '--for', 'ever'], /expected a whole number/],
      [['unban', '203.0.113.7'], /there is no such ban/],
    ] as const) {
      const { code, errors } = await command(second, ...words)
      expect([words, code === 0, errors]).toEqual([words, false, expect.stringMatching(reason)])
    }
    const closed = String(await freePort())
    const { code, errors } = await runCommand(['peers', '--admin-port', closed])
    expect([code, errors]).toEqual([1, expect.stringContaining(`no node answers at http://127.0.0.1:${closed}`)])
  })

  const wrong: [string, string, object | undefined, number, string, string?][] = [
    ['POST', '/api/peers', {}, 400, 'invalid', 'enode'],
    ['POST', '/api/peers', { enode: 5 }, 400, 'invalid', 'enode'],
    ['POST', '/api/peers', { enode: 'enode://ab@1.2.3.4:5' }, 400, 'invalid', 'enode'],
    ['POST', '/api/peers', { enode: 'x'.repeat(513) }, 400, 'invalid', 'enode'],
    ['POST', '/api/bans', { target: 'localhost' }, 400, 'invalid', 'target'],
    ['POST', '/api/bans', { target: '203.0.113.7/99' }, 400, 'invalid', 'target'],
    ['POST', '/api/bans', { target: '203.0.113.7', seconds: 0 }, 400, 'invalid', 'seconds'],
    ['POST', '/api/bans', { target: '203.0.113.7', seconds: 2 ** 32 }, 400, 'invalid', 'seconds'],
    ['DELETE', '/api/peers/ab', undefined, 404, 'path'],
    ['DELETE', `/api/peers/${'ab'.repeat(64)}`, undefined, 404, 'unknown'],
    ['DELETE', '/api/bans/%zz', undefined, 404, 'path'],
    ['DELETE', '/api/bans/127.0.0.1', undefined, 400, 'invalid', 'target'],
    ['PUT', '/api/bans', undefined, 405, 'method'],
  ]
  test.each(wrong)('error: %s %s %j', async (method, path, body, status, code, member) => {
    const answer = await api<Refusal>(first, method, path, body)
    expect(answer.status).toBe(status)
    expect(answer.body.error).toMatchObject({ code, ...(member !== undefined && { member }) })
  })

  test('error: admin_addPeer and admin_removePeer with malformed URLs', async () => {
    for (const method of ['admin_addPeer', 'admin_removePeer']) {
      for (const url of ['', 'enode://zz@1.2.3.4:5', `enode://${'ab'.repeat(64)}@1.2.3.4:0`, 7, 'x'.repeat(600)]) {
        expect([method, url, (await first.ask(method, [url])).error?.code]).toEqual([method, url, -32602])
      }
    }
  })
})

test('behavior: a node without peers says so', async () => {
  const node = await NodeProcess.start(['--workers', '1', '--admin-port', '0'])
  expect(await node.result('net_listening')).toBe(false)
  expect(await countOf(node)).toBe('0x0')
  expect(await peersOf(node)).toEqual([])
  expect(await node.result('eth_syncing')).toBe(false)
  expect((await node.ask('admin_nodeInfo')).error).toMatchObject({ code: -32000 })
  const response = await fetch(`${node.adminUrl}/api/peers`)
  expect(await response.json()).toEqual({ enode: null, peers: [], dialled: [], bans: [] })
  const added = await fetch(`${node.adminUrl}/api/peers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enode: `enode://${'79'.repeat(64)}@127.0.0.1:5050` }),
  })
  expect(added.status).toBeGreaterThanOrEqual(400)
  await node.stop()
})

interface SyncStatus {
  readonly startingBlock: string
  readonly currentBlock: string
  readonly highestBlock: string
  readonly stages: readonly { readonly stage_name: string; readonly block_number: string }[]
}

/** Enough that the served node can be stopped in the middle. */
const blocks = 3000

test('behavior: eth_syncing and its subscription follow a synchronization', { timeout: 90_000 }, async () => {
  const [served, node] = [await start(), await start()]
  // The times of the blocks must not be ahead of the clock.
  await served.result('evm_setTime', [Math.floor(Date.now() / 1000) - 10 * blocks])
  for (let mined = 0; mined < blocks; mined += 100) await served.result('hardhat_mine', ['0x64'])
  const highest = await served.result<string>('eth_blockNumber')
  const client = await Client.open(node.url)
  await client.result('eth_subscribe', ['syncing'])
  expect(await node.result('eth_syncing')).toBe(false)

  await node.result('admin_addPeer', [(await infoOf(served)).enode])
  await expect.poll(() => node.result('eth_syncing'), { interval: 1, timeout: 20_000 }).not.toBe(false)
  served.child.kill('SIGSTOP')
  const [begun] = await client.take(1)
  const status = await node.result<SyncStatus>('eth_syncing')
  served.child.kill('SIGCONT')
  expect(begun?.params.result).toMatchObject({ syncing: true, status: { startingBlock: 0 } })
  const [current, best] = [Number(status.currentBlock), Number(status.highestBlock)]
  expect(status.startingBlock).toBe('0x0')
  const names = status.stages.map(({ stage_name }) => stage_name)
  const [headers, bodies, execution] = status.stages.map(({ block_number }) => Number(block_number))
  expect([names, headers, execution]).toEqual([['Headers', 'Bodies', 'Execution'], best, current])
  expect(bodies).toBeGreaterThanOrEqual(current)
  expect(best).toBeGreaterThan(current + 24)
  expect(best).toBeLessThanOrEqual(Number(highest))

  expect((await client.take(1))[0]?.params.result).toBe(false)
  await expect.poll(() => node.result('eth_blockNumber'), patient).toBe(highest)
  await expect.poll(() => node.result('eth_syncing'), patient).toBe(false)
  expect(await node.result('eth_getBlockByNumber', ['latest', false])).toEqual(
    await served.result('eth_getBlockByNumber', ['latest', false]),
  )
  await client.close()
  await node.stop()

  // Killed in the middle, the next one has headers ahead of its blocks.
  const dir = join(scratchFolder(), 'data')
  const killed = await start('--data-dir', dir)
  await killed.result('admin_addPeer', [(await infoOf(served)).enode])
  await expect.poll(() => killed.result('eth_syncing'), { interval: 1, timeout: 20_000 }).not.toBe(false)
  await killed.stop('SIGKILL')
  await served.stop()
  const info = JSON.parse((await runCommand(['info', '--json', '--data-dir', dir])).output)
  expect(info.bestHeader).toBeGreaterThan(info.number)
  expect(info.bestHeaderHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(info.bestHeaderHash).not.toBe(info.hash)
})

test('behavior: mainnet without a network serves what is stored, and searches on', async () => {
  const node = await start('--network', 'mainnet', '--p2p-host', '127.0.0.1', '--bootnodes', 'nowhere.invalid:5050')
  expect(await node.result('eth_blockNumber')).toBe('0x0')
  expect(await node.result('eth_getBlockByNumber', ['0x0', false])).toMatchObject({
    hash: '0xf88529d4ab262c0f4d042e9d8d3f2472848eaafe1a9b7213f57617eb40a9f9e0',
  })
  expect([await countOf(node), await node.result('net_listening')]).toEqual(['0x0', true])
  expect(await node.result('eth_syncing')).toBe(false)
  const health = await fetch(`${node.url}/health`)
  expect([health.status, await health.json()]).toMatchObject([503, { ready: false }])
  expect(((await (await fetch(`${node.url}/health`)).json()) as { reasons: string[] }).reasons[0]).toBe(
    'there are no peers',
  )
  expect(await node.stop()).toBe(0)
})
