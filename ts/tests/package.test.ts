import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { program, scratchFolder } from './node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe.skipIf(process.platform === 'win32')('a release without publishing', () => {
  const out = join(scratchFolder(), 'packages')
  let printed = ''
  beforeAll(() => {
    const parameters = [join(root, 'scripts/release/release.mjs'), '--dry-run', '--out', out]
    const { stdout, stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8', cwd: root })
    expect(status, stderr).toBe(0)
    printed = stdout + stderr
  }, 300_000)

  test('behavior: the packages install and answer with neither Rust nor a compiler on the path, in 26 MB', () => {
    const [, megabytes] = /installed in [\d.]+ s, first answer after [\d.]+ s, ([\d.]+) MB on disk/.exec(printed) ?? []
    expect(Number(megabytes)).toBeGreaterThan(10)
    expect(Number(megabytes)).toBeLessThanOrEqual(26)
  })

  test('behavior: a package of the program and one of the platform, under the scope', () => {
    const files = readdirSync(out).filter((name) => name.endsWith('.tgz'))
    expect(files).toHaveLength(2)
    const manifests = files.map((name) => JSON.parse(fromPackage(name, 'package.json')) as Record<string, string>)
    const [platform, main] = manifests.sort((left) => (left.bin === undefined ? -1 : 1))
    expect(main).toMatchObject({ name: '@rhizome-node/rhizome', bin: { rhizome: 'ts/rhizome.mjs' } })
    expect(main).not.toHaveProperty('dependencies')
    expect(main?.optionalDependencies).toEqual({ [platform?.name ?? '']: main?.version })
    expect(platform?.name).toBe(
      `@rhizome-node/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`,
    )
  })

  test('behavior: each package lists its components', () => {
    const [crates, npm] = ['rhizome.node', 'ts/dist/cli.js'].map((part) => {
      const name = readdirSync(out).find((file) => file.endsWith('.tgz') && listOf(file).includes(part)) ?? ''
      return JSON.parse(fromPackage(name, 'sbom.cdx.json')) as Sbom
    })
    for (const bom of [crates, npm]) {
      expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' })
      const names = bom?.components.map((component) => component['bom-ref']) ?? []
      expect(new Set(names).size).toBe(names.length)
      for (const { version, purl, licenses, hashes } of bom?.components ?? []) {
        expect([version, purl, licenses[0], hashes[0]?.content]).not.toContain(undefined)
      }
    }
    const versionOf = (name: string) =>
      new RegExp(`name = "${name}"\nversion = "([^"]+)"`).exec(read('Cargo.lock'))?.[1]
    for (const name of ['librocksdb-sys', 'revm', 'mimalloc']) {
      expect(crates?.components).toContainEqual(expect.objectContaining({ name, version: versionOf(name) }))
    }
    expect(crates?.components).toContainEqual(expect.objectContaining({ name: 'uWebSockets.js' }))
    const own = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    for (const [name, version] of Object.entries(own.dependencies)) {
      if (name !== 'uWebSockets.js') expect(npm?.components).toContainEqual(expect.objectContaining({ name, version }))
    }
  })

  test('behavior: the workflow takes these steps, in this order', () => {
    const taken = [...read('.github/workflows/release.yml').matchAll(/run: npm run release -- (.*)$/gm)]
    const here = [...printed.matchAll(/^== release: (\S+)$/gm)].map(([, name]) => name)
    expect(taken.flatMap(([, names = '']) => names.split(' ')).sort()).toEqual([...here].sort())
    expect(here).toEqual(['check', 'http-server', 'compare', 'native', 'pack', 'try', 'publish'])
  })

  const listOf = (file: string) => execFileSync('tar', ['tzf', join(out, file)], { encoding: 'utf8' })
  const fromPackage = (file: string, path: string) =>
    execFileSync('tar', ['xzOf', join(out, file), `package/${path}`], { encoding: 'utf8' })
})

test('error: an unknown step', () => {
  const parameters = [join(root, 'scripts/release/release.mjs'), 'fly']
  const { stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^release: fly is not one of the steps check, /)])
})

describe.skipIf(process.platform !== 'linux')('a Node.js or a system that does not fit', () => {
  const cases: [node: string, abi: string, glibc: string, word: RegExp][] = [
    [
      '22.20.0',
      '127',
      '2.36',
      /^\S+: The HTTP server .* for Node.js 22 needs glibc 2.38 and this system has 2.36: use Node.js 20, or .*\n$/,
    ],
    ['26.0.0', '147', '2.41', /^\S+: Node.js 26.0.0 is not supported: use Node.js 20.19, 22.12 or 24.0 .*\n$/],
  ]
  const commands = [
    ['start', [program, 'start', '--ephemeral', '--http-port', '0']],
    ['set-up', [join(root, 'scripts/setup.mjs')]],
  ] as const
  for (const [what, command] of commands) {
    test.each(
      cases,
    )(`error: ${what} with Node.js %s, ABI %s, glibc %s is one sentence`, (node, modules, glibc, word) => {
      const versions = JSON.stringify({ ...process.versions, node, modules })
      const report = JSON.stringify({ header: { glibcVersionRuntime: glibc } })
      const pretend = `Object.defineProperty(process, 'versions', { value: ${versions} })
        process.report.getReport = () => (${report})`
      const parameters = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, ...command]
      const { stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
      expect([status, stderr]).toEqual([1, expect.stringMatching(word)])
    })
  }
})

interface Sbom {
  components: {
    'bom-ref': string
    name: string
    version: string
    purl: string
    licenses: unknown[]
    hashes: { content: string }[]
  }[]
}
