import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from './freePort.ts'
import { NodeProcess } from './node.ts'
import { exchange } from './rawSocket.ts'
import { Client } from './webSocket.ts'

let node: NodeProcess

beforeAll(async () => {
  const port = String(await freePort())
  node = await NodeProcess.start(['--workers', '2', '--p2p-port', port], 'metrics.enabled = true\nmetrics.port = 0\n')
})

afterAll(async () => {
  await node.stop()
})

async function figures(of = node): Promise<Map<string, number>> {
  const page = await (await fetch(of.metricsUrl ?? '')).text()
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

const at = async (name: string) => (await figures()).get(name)
const count = (method: string) => `rhizome_rpc_duration_seconds_count{method="${method}"}`

describe('/metrics', () => {
  test('behavior: requests and errors by method, of all workers together', async () => {
    for (let turn = 0; turn < 20; turn++) {
      // Each request on a new connection, so that they spread over the workers.
      await node.post('{"id":1,"method":"eth_chainId"}', { 'content-type': 'application/json', connection: 'close' })
    }
    await node.ask('eth_getBalance', ['nobody'])
    await node.ask('no_such\nmethod"', [])
    await node.ask('rsk_secretParameter', ['0xkey'])
    const seen = await figures()
    expect(seen.get(count('eth_chainId'))).toBe(20)
    expect(seen.get('rhizome_rpc_duration_seconds_bucket{method="eth_chainId",le="+Inf"}')).toBe(20)
    expect(seen.get('rhizome_rpc_duration_seconds_sum{method="eth_chainId"}')).toBeGreaterThan(0)
    expect(seen.get('rhizome_rpc_errors_total{method="eth_getBalance",code="-32602"}')).toBe(1)
    // Invented method names do not become labels.
    expect(seen.get('rhizome_rpc_errors_total{method="other",code="-32601"}')).toBe(2)
    expect([...seen.keys()].filter((name) => /no_such|secret|0xkey/.test(name))).toEqual([])
  })

  test('behavior: classes of latency never fall', async () => {
    await node.result('eth_blockNumber')
    const buckets = [...(await figures())].filter(([name]) => /_bucket{method="eth_blockNumber"/.test(name))
    expect(buckets).toHaveLength(17)
    const counts = buckets.map(([, value]) => value)
    expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  })

  test('behavior: the head, the pool and the executors', async () => {
    await node.result('evm_mine')
    const { number, timestamp } = await node.result<{ number: string; timestamp: string }>('eth_getBlockByNumber', [
      'latest',
      false,
    ])
    await node.result('eth_call', [{ to: `0x${'01'.repeat(20)}` }, 'latest'])
    const seen = await figures()
    expect(seen.get('rhizome_open')).toBe(1)
    expect(seen.get('rhizome_head_number')).toBe(Number(number))
    expect(seen.get('rhizome_head_timestamp_seconds')).toBe(Number(timestamp))
    expect(seen.get('rhizome_highest_block_number')).toBe(Number(number))
    expect(seen.get('rhizome_pool_transactions{state="pending"}')).toBe(0)
    expect(seen.get('rhizome_lane_threads{lane="pool"}')).toBeGreaterThan(0)
    expect(seen.get('rhizome_lane_refused_total{lane="trace"}')).toBe(0)
    expect(seen.get('rhizome_write_buffer_bytes')).toBeGreaterThan(0)
    expect(seen.get('rhizome_write_stopped')).toBe(0)
    expect(seen.get('rhizome_sync_active')).toBe(0)
    expect(seen.get('rhizome_sync_blocks{state="importing"}')).toBe(0)
  })

  test('behavior: connections, subscriptions and filters come and go', async () => {
    // Connections of earlier tests close after a while.
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1')
    await expect.poll(() => at('rhizome_http_connections')).toBeGreaterThanOrEqual(1)
    const client = await Client.open(node.url)
    const id = await client.result('eth_subscribe', ['newHeads'])
    await client.result('eth_subscribe', ['logs', {}])
    await node.result('eth_newBlockFilter')
    expect(await at('rhizome_websocket_connections')).toBe(1)
    expect(await at('rhizome_websocket_subscriptions')).toBe(2)
    expect(await at('rhizome_filters')).toBe(1)
    await client.result('eth_unsubscribe', [id])
    expect(await at('rhizome_websocket_subscriptions')).toBe(1)
    client.socket.close()
    await client.closed
    await expect.poll(() => at('rhizome_websocket_connections')).toBe(0)
    expect(await at('rhizome_websocket_subscriptions')).toBe(0)
    socket.destroy()
  })

  test('behavior: no connection stays in the count, not that of a WebSocket either', async () => {
    const fresh = await NodeProcess.start(['--workers', '1'], 'metrics.enabled = true\nmetrics.port = 0\n')
    const open = async () => (await figures(fresh)).get('rhizome_http_connections')
    const sockets = [1, 2, 3].map(() => connect(Number(new URL(fresh.url).port), '127.0.0.1'))
    await expect.poll(open).toBe(3)
    const client = await Client.open(fresh.url)
    await expect.poll(open).toBe(3)
    await client.close()
    await expect.poll(open).toBe(3)
    for (const socket of sockets) socket.destroy()
    await expect.poll(open).toBe(0)
    await fresh.stop()
  })

  test('behavior: peers by direction, their messages by type, closed connections and bans', async () => {
    const { enode } = await node.result<{ enode: string }>('admin_nodeInfo')
    const settings = 'metrics.enabled = true\nmetrics.port = 0\n'
    const peer = await NodeProcess.start(['--workers', '1', '--peers', enode], settings)
    await expect.poll(() => node.result('net_peerCount')).toBe('0x1')
    await expect.poll(() => at('rhizome_p2p_messages_total{type="status",direction="in"}')).toBe(1)
    const [inbound, outbound] = [await figures(), await figures(peer)]
    expect(inbound.get('rhizome_p2p_peers{direction="in"}')).toBe(1)
    expect(inbound.get('rhizome_p2p_peers{direction="out"}')).toBe(0)
    expect(outbound.get('rhizome_p2p_peers{direction="out"}')).toBe(1)
    expect(inbound.get('rhizome_p2p_head_stalled')).toBe(0)
    for (const type of ['hello', 'eth_status', 'status']) {
      const sent = outbound.get(`rhizome_p2p_bytes_total{type="${type}",direction="out"}`)
      expect([type, sent]).toEqual([type, inbound.get(`rhizome_p2p_bytes_total{type="${type}",direction="in"}`)])
      expect(sent).toBeGreaterThan(30)
    }
    expect(inbound.get('rhizome_p2p_queue_messages{direction="out"}')).toBe(0)
    await peer.stop()
    await expect.poll(() => at('rhizome_p2p_peers{direction="in"}')).toBe(0)
    expect(await at('rhizome_p2p_closed_total{reason="remote"}')).toBe(1)
    await node.result('sco_banAddress', ['203.0.113.7'])
    const banned = await figures()
    expect(banned.get('rhizome_p2p_banned')).toBe(1)
    expect(banned.get('rhizome_p2p_bans_total{reason="operator"}')).toBe(1)
    expect(banned.get('rhizome_p2p_bans_total{reason="invalidBlocks"}')).toBe(0)
  })

  test('behavior: a node without peers serves the same gauges', async () => {
    const alone = await NodeProcess.start(['--workers', '1'], 'metrics.enabled = true\nmetrics.port = 0\n')
    const seen = await figures(alone)
    expect(seen.get('rhizome_p2p_peers{direction="in"}')).toBe(0)
    expect(seen.get('rhizome_sync_behind_seconds')).toBe(0)
    await alone.stop()
  })

  test('behavior: the process is measured, too', async () => {
    expect(await at('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(await at('rhizome_worker_loop_delay_seconds{worker="1",quantile="0.99"}')).toBeGreaterThanOrEqual(0)
    expect(await at('rhizome_worker_loop_work_seconds{worker="1"}')).toBeGreaterThanOrEqual(0)
  })

  test('behavior: the dashboard uses only served metrics, and all metrics of the node', async () => {
    await node.ask('eth_getBalance', ['nobody'])
    expect((await fetch(node.url, { method: 'PUT' })).status).toBe(405)
    const page = await (await fetch(node.metricsUrl ?? '')).text()
    const board = readFileSync(new URL('../../docs/grafana.json', import.meta.url), 'utf8')
    const { panels } = JSON.parse(board) as { panels: { targets: { expr: string }[] }[] }
    // Those of a fleet: fleet.test.ts.
    const asked = panels
      .flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/\b(rhizome|process)_\w+/g) ?? []))
      .filter((name) => !name.startsWith('rhizome_fleet_'))
    // Without apps, those of apps have a type and no value.
    const served = new Set(page.match(/^[a-z]\w*|(?<=^# TYPE )rhizome_app_\w+/gm))
    expect(page).toMatch(/^rhizome_refusals_total\{status="405"\} [1-9]/m)
    expect(asked.length).toBeGreaterThan(20)
    // Those of a fleet: checkpoints.test.ts.
    expect(asked.filter((name) => !served.has(name) && !name.startsWith('rhizome_fleet_'))).toEqual([])
    const ours = [...served].filter((name) => name.startsWith('rhizome_'))
    expect(ours.filter((name) => !asked.includes(name))).toEqual([])
  })

  test('behavior: HEAD; other methods and paths are refused', async () => {
    const url = node.metricsUrl ?? ''
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(405)
    expect((await fetch(new URL('/', url))).status).toBe(404)
    // The port of JSON-RPC does not serve metrics.
    expect((await fetch(`${node.url}/metrics`)).status).toBe(405)
  })

  test('error: a name that a web page may have made up for this address', async () => {
    const port = Number(new URL(node.metricsUrl ?? '').port)
    for (const host of ['Host: evil.example.org', 'Host:', 'Host: localhost\r\nHost: evil.example.org']) {
      const { text } = await exchange(port, `GET /metrics HTTP/1.1\r\n${host}\r\n\r\n`)
      expect([host, text]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 403 /)])
    }
  })

  test('error: an address that is in use', async () => {
    const port = new URL(node.metricsUrl ?? '').port
    const start = NodeProcess.start([], `metrics.enabled = true\nmetrics.port = ${port}\n`)
    await expect(start).rejects.toThrow(/metrics: cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/)
  })
})
