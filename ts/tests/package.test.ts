import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { manifestOf } from '../../scripts/release/registry.mjs'
import { installFrom } from '../../scripts/release/try.mjs'
import { nodeLines } from '../src/native/binaries.mjs'
import { platformPackage } from '../src/native/places.ts'
import { program, scratchFolder } from './node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe.skipIf(process.platform === 'win32')('a release without publishing', () => {
  const out = join(scratchFolder(), 'packages')
  let printed = ''
  let packed: string[] = []
  beforeAll(() => {
    const parameters = [join(root, 'scripts/release/release.mjs'), '--dry-run', '--out', out]
    const { stdout, stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8', cwd: root })
    expect(status, stderr).toBe(0)
    printed = stdout + stderr
    packed = readdirSync(out)
      .filter((name) => name.endsWith('.tgz'))
      .map((name) => join(out, name))
  }, 300_000)

  test('behavior: the packages install and answer with neither Rust nor a compiler on the path, in 25 MB', () => {
    const [, bytes] = /installed in [\d.]+ s, first answer after [\d.]+ s, (\d+) bytes on disk/.exec(printed) ?? []
    expect(Number(bytes)).toBeGreaterThan(10_000_000)
    expect(Number(bytes)).toBeLessThanOrEqual(25 * 2 ** 20)
  })

  test('behavior: a package of the program, one of the platform and one for each line of Node.js, under the scope', () => {
    const manifests = packed.map((file) => manifestOf(file))
    const main = manifests.find(({ name }) => name === '@rhizome-node/rhizome')
    expect(main).toMatchObject({ bin: { rhizome: 'ts/rhizome.mjs' } })
    expect(main).not.toHaveProperty('dependencies')
    const lines = nodeLines.map(({ line }) => `${platformPackage}-node${line}`)
    const optional = [platformPackage, ...lines].map((name) => [name, main?.version])
    expect(main?.optionalDependencies).toEqual(Object.fromEntries(optional))
    const natives = manifests.filter((one) => one !== main)
    expect(natives.map(({ name }) => name).sort()).toEqual([platformPackage, ...lines])
    for (const { os, cpu, libc } of natives) {
      expect([os, cpu, libc]).toEqual([
        [process.platform],
        [process.arch],
        process.platform === 'linux' ? ['glibc'] : undefined,
      ])
    }
  })

  describe('an installation', () => {
    const project = join(scratchFolder(), 'project')
    let installed: string[]
    beforeAll(async () => {
      installed = await installFrom(packed, '@rhizome-node/rhizome', project)
    }, 60_000)

    test('behavior: npm installs the HTTP server for the running Node.js only', () => {
      const platform = platformPackage.replace('@rhizome-node/', '')
      expect(installed).toEqual([platform, `${platform}-node${process.versions.node.split('.')[0]}`, 'rhizome'])
      expect(printed).toContain(`npm chose ${installed.join(', ')}\n`)
    })

    test('error: an installation of another Node.js is one sentence', () => {
      const [other] = nodeLines.filter(({ abi }) => abi !== process.versions.modules)
      const { line, from, abi } = other ?? { line: 0, from: '', abi: '' }
      const path = join(project, 'node_modules/@rhizome-node/rhizome/ts/rhizome.mjs')
      const parameters = [...pretend(from, abi, '2.41'), path, 'start', '--ephemeral', '--http-port', '0']
      const { stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8', cwd: project })
      expect([status, stderr]).toEqual([
        1,
        `rhizome: The HTTP server (uWebSockets.js) for Node.js ${from} (${platformPackage}-node${line}) is not installed: install again with this Node.js and with optional dependencies\n`,
      ])
    })
  })

  test('behavior: each package lists its components', () => {
    const bomOf = (part: string) => {
      const file = packed.find((one) => execFileSync('tar', ['tzf', one], { encoding: 'utf8' }).includes(part)) ?? ''
      return JSON.parse(execFileSync('tar', ['xzOf', file, 'package/sbom.cdx.json'], { encoding: 'utf8' })) as Sbom
    }
    const [crates, npm] = [bomOf('rhizome.node'), bomOf('ts/dist/cli.js')]
    const servers = nodeLines.map(({ abi }) => bomOf(`_${abi}.node`))
    for (const bom of [crates, npm, ...servers]) {
      expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' })
      const names = bom.components.map((component) => component.purl)
      expect(new Set(names).size).toBe(names.length)
      for (const { version, purl, licenses, hashes } of bom.components) {
        expect([version, purl, licenses[0], hashes[0]?.content]).not.toContain(undefined)
      }
    }
    const versionOf = (name: string) =>
      new RegExp(`name = "${name}"\nversion = "([^"]+)"`).exec(read('Cargo.lock'))?.[1]
    for (const name of ['librocksdb-sys', 'revm', 'mimalloc']) {
      expect(crates.components).toContainEqual(expect.objectContaining({ name, version: versionOf(name) }))
    }
    for (const { components } of servers) {
      expect(components).toEqual([expect.objectContaining({ name: 'uWebSockets.js', version: '3.0.6' })])
    }
    const own = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    for (const [name, version] of Object.entries(own.dependencies)) {
      if (name !== 'uWebSockets.js') expect(npm.components).toContainEqual(expect.objectContaining({ name, version }))
    }
  })

  test('behavior: the workflow takes these steps, in this order', () => {
    const taken = [...read('.github/workflows/release.yml').matchAll(/run: npm run release -- (.*)$/gm)]
    const here = [...printed.matchAll(/^== release: (\S+)$/gm)].map(([, name]) => name)
    expect(taken.flatMap(([, names = '']) => names.split(' ')).sort()).toEqual([...here].sort())
    expect(here).toEqual(['check', 'http-server', 'compare', 'native', 'pack', 'try', 'publish'])
  })
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
      const parameters = [...pretend(node, modules, glibc), ...command]
      const { stderr, status } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
      expect([status, stderr]).toEqual([1, expect.stringMatching(word)])
    })
  }
})

/** Returns flags for Node.js that give the program another Node.js and glibc. */
function pretend(node: string, modules: string, glibc: string): string[] {
  const versions = JSON.stringify({ ...process.versions, node, modules })
  const report = JSON.stringify({ header: { glibcVersionRuntime: glibc } })
  const script = `Object.defineProperty(process, 'versions', { value: ${versions} })
    process.report.getReport = () => (${report})`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

interface Sbom {
  components: {
    name: string
    version: string
    purl: string
    licenses: unknown[]
    hashes: { content: string }[]
  }[]
}
