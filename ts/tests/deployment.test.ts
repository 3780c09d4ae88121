import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startCommand } from '../src/cli/start.ts'
import { leaves } from '../src/config/leaves.ts'
import { loadConfig } from '../src/config/load.ts'
import { scratchFolder } from './node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'docs/deploy')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const yaml = (name: string) => parse(read(name)) as { [name: string]: never }

const unit = read('rhizome.service')
const dockerfile = read('Dockerfile')
const config = loadConfig({ file: join(folder, 'rhizome.toml') })
const compose = yaml('compose.yaml') as unknown as {
  services: Record<string, { command?: string[]; ports?: string[]; volumes: string[]; build?: Record<string, string> }>
  volumes: Record<string, null>
}

/** Returns the flags of `rhizome start` in a command line. */
function flagsOf(words: readonly string[]): string[] {
  expect(words[0]).toBe('start')
  return words.filter((word) => word.startsWith('--'))
}

describe('paths in the files exist', () => {
  const known = startCommand().options.map(({ long }) => long)
  const inUnit = /^ExecStart=\S+ (.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
  test.each([
    ['rhizome.service', inUnit],
    ['compose.yaml', compose.services.rhizome?.command ?? []],
    ['Dockerfile', JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '') as string[]],
  ])('behavior: flags in %s', (_file, words) => {
    expect(flagsOf(words).filter((flag) => !known.includes(flag))).toEqual([])
  })

  test('behavior: variables of the environment', () => {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').match(/\bRHIZOME_[A-Z_]+/g) ?? [])
    expect(names.length).toBeGreaterThan(2)
    const settings = leaves.map(({ environment }) => environment)
    expect(names.filter((name) => !settings.includes(name))).toEqual([])
  })

  test('behavior: files and volumes of compose.yaml', () => {
    const { rhizome } = compose.services
    expect(existsSync(join(folder, rhizome?.build?.context ?? '', rhizome?.build?.dockerfile ?? ''))).toBe(true)
    for (const place of Object.values(compose.services).flatMap(({ volumes }) => volumes)) {
      const [from = ''] = place.split(':')
      if (from.startsWith('.')) expect(existsSync(join(folder, from)), from).toBe(true)
      else expect(Object.keys(compose.volumes)).toContain(from)
    }
  })

  test('behavior: copied files and commands of the image', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    expect(Object.keys(scripts)).toContain(/npm run (\w+)/.exec(dockerfile)?.[1])
    const left = read('Dockerfile.dockerignore').split('\n').filter(Boolean)
    for (const path of [
      'crates',
      'ts/src',
      'ts/rhizome.mjs',
      'scripts',
      'package-lock.json',
      'Cargo.lock',
      'README.md',
    ]) {
      expect(existsSync(join(root, path)), path).toBe(true)
      expect(left.filter((one) => path === one || path.startsWith(`${one}/`))).toEqual([])
    }
  })
})

describe('the parts fit together', () => {
  test('behavior: ports', () => {
    const { port } = config.http
    expect(dockerfile).toContain(`EXPOSE ${port}\n`)
    expect(dockerfile).toContain(`RHIZOME_HTTP_PORT=${port}\n`)
    expect(dockerfile).toContain(`http://127.0.0.1:${port}/health`)
    expect(compose.services.rhizome?.ports).toEqual([`${port}:${port}`])
    const [job] = yaml('prometheus.yml').scrape_configs as unknown as [{ static_configs: { targets: string[] }[] }]
    const [name] = config.metrics.hosts
    expect(job?.static_configs).toEqual([{ targets: [`${name}:${config.metrics.port}`] }])
    expect(Object.keys(compose.services)).toContain(name)
    const [source] = yaml('grafana/datasource.yml').datasources as unknown as [{ url: string }]
    expect(source?.url).toBe('http://prometheus:9090')
  })

  test('behavior: places', () => {
    const { dataDir } = config
    expect(dockerfile).toContain(`RHIZOME_DATA_DIR=${dataDir} `)
    expect(dockerfile).toContain(`VOLUME ${dataDir}\n`)
    expect(unit).toContain(`RHIZOME_DATA_DIR=${dataDir}\n`)
    expect(unit).toContain(`StateDirectory=${dataDir.replace('/var/lib/', '')}\n`)
    expect(compose.services.rhizome?.volumes[0]).toBe(`chain:${dataDir}`)
    const [provider] = yaml('grafana/dashboard.yml').providers as unknown as [{ options: { path: string } }]
    const dashboard = compose.services.grafana?.volumes.find((place) => place.startsWith('../grafana.json:')) ?? ''
    expect(dirname(dashboard.split(':')[1] ?? '')).toBe(provider?.options.path)
  })

  test('behavior: the node is not root, and has time to end', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    expect(unit).toMatch(/^DynamicUser=yes$/m)
    expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1]) * 1000).toBeGreaterThan(config.http.drainMs + 10_000)
  })
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd)('behavior: systemd takes the unit, and finds it hardened', () => {
  const file = join(scratchFolder(), 'rhizome.service')
  writeFileSync(file, unit.replace('/usr/local/bin/rhizome', process.execPath))
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  expect([status, stderr.split('\n').filter((line) => line.includes('rhizome.service'))]).toEqual([0, []])
  const security = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=25', '--no-pager', file])
  expect(security.status).toBe(0)
})
