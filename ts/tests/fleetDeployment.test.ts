import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { natsServer } from '../../scripts/setup/natsServer.mjs'
import { fleetSettings } from '../src/config/fleet.ts'
import { loadConfig } from '../src/config/load.ts'
import { HaproxyProcess, hasHaproxy } from './fleetFaults/haproxyProcess.ts'
import { freePort } from './freePort.ts'
import { NodeProcess, scratchFolder } from './node.ts'

const folder = fileURLToPath(new URL('../../docs/deploy/fleet', import.meta.url))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const yaml = (name: string) => parse(read(name), { merge: true }) as { [name: string]: never }

interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
  readonly build?: Readonly<Record<string, string>>
}

const { services, volumes } = yaml('compose.yaml') as unknown as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined)

describe('docs/deploy/fleet', () => {
  test('behavior: each node has a role, a name, a password and its own data', () => {
    const replicas = ['replica-1', 'replica-2', 'replica-3']
    expect(nodes.map(([name]) => name)).toEqual(['importer', 'standby', ...replicas])
    for (const [name, { environment = {}, volumes: places }] of nodes) {
      const file = places.find((place) => place.endsWith(':/etc/rhizome/rhizome.toml:ro'))?.split(':')[0] ?? ''
      const settings = fleetSettings(loadConfig({ file: join(folder, file), environment }), '1')
      const role = replicas.includes(name) ? 'replica' : 'importer'
      expect(settings).toMatchObject({ role, name, changes: ['blocks', 'logs'] })
      const password = `\${${role.toUpperCase()}_PASSWORD:?}`
      expect(settings?.url).toBe(`nats://${role}:${password}@nats:4222`)
      expect(places[0]).toBe(`${name}:/var/lib/rhizome`)
    }
  })

  test('behavior: files and volumes exist', () => {
    const { build } = services.importer as Service
    expect(existsSync(join(folder, build?.context ?? '', build?.dockerfile ?? ''))).toBe(true)
    for (const place of Object.values(services).flatMap((service) => service.volumes)) {
      const [from = ''] = place.split(':')
      if (from.startsWith('.')) expect(existsSync(join(folder, from)), from).toBe(true)
      else expect(Object.keys(volumes)).toContain(from)
    }
  })

  test('behavior: the balancer and Prometheus know all nodes', () => {
    const replica = loadConfig({ file: join(folder, 'replica.toml') })
    const importer = loadConfig({ file: join(folder, 'importer.toml') })
    const servers = [...read('haproxy.cfg').matchAll(/^ {4}server (\S+) (\S+):(\d+)$/gm)]
    const found = servers.map(([, name, host, port]) => [name, host, Number(port)])
    expect(found).toEqual(replica.metrics.hosts.map((host) => [host, host, replica.http.port]))
    const [job] = yaml('prometheus.yml').scrape_configs as unknown as [{ static_configs: { targets: string[] }[] }]
    const hosts = [...importer.metrics.hosts, ...replica.metrics.hosts]
    expect(job.static_configs).toEqual([{ targets: hosts.map((host) => `${host}:${replica.metrics.port}`) }])
    expect(nodes.map(([name]) => name)).toEqual(hosts)
    expect(services.importer?.ports).toEqual([`${importer.p2p.port}:${importer.p2p.port}`])
  })

  test('behavior: the rights are those of docs/fleet.md', () => {
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8')
    const users = (text: string) => /^authorization {[\s\S]*?^}/m.exec(text)?.[0].replaceAll(/password: \S+,/g, '')
    expect(users(read('nats.conf'))).toBe(users(page))
  })

  const withoutHaproxy = hasHaproxy ? '' : ' (skipped: haproxy is not installed)'
  test.skipIf(!hasHaproxy)(`behavior: HAProxy takes its file${withoutHaproxy}`, () => {
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('[ALERT]')])
  })

  test.skipIf(!hasHaproxy)(`behavior: HAProxy sends requests to ready nodes only${withoutHaproxy}`, async () => {
    // A head of the year 1970 is too old.
    const [ready, late] = await Promise.all([
      NodeProcess.start(['--workers', '1']),
      NodeProcess.start(['--workers', '1', '--chain-id', '34'], 'health.maxHeadAgeSeconds = 1\n'),
    ])
    const ports = [late.url, ready.url].map((url) => Number(new URL(url).port))
    const haproxy = await HaproxyProcess.start(scratchFolder(), [...ports, await freePort()])
    const ask = async (key: string) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key }
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
      const answer = await fetch(haproxy.url, { method: 'POST', headers, body })
      return answer.ok ? ((await answer.json()) as { result: string }).result : answer.status
    }
    const keys = Array.from({ length: 12 }, (_none, index) => `key-${index}`)
    await expect.poll(() => Promise.all(keys.map(ask)), { timeout: 20_000 }).toEqual(keys.map(() => '0x21'))
    await ready.stop()
    await expect.poll(() => ask('key-0'), { timeout: 20_000 }).toBe(503)
    await haproxy.kill()
    await late.stop()
  })

  const server = natsServer()
  const withNats = `behavior: NATS takes its file${server === undefined ? ' (skipped: nats-server is not installed)' : ''}`
  test.skipIf(server === undefined)(withNats, () => {
    const file = join(scratchFolder(), 'nats.conf')
    writeFileSync(file, read('nats.conf').replace('/var/lib/nats', join(scratchFolder(), 'streams')))
    const env = { ...process.env, IMPORTER_PASSWORD: 'one', REPLICA_PASSWORD: 'other' }
    expect(spawnSync(server ?? '', ['-t', '-c', file], { env }).status).toBe(0)
  })
})
