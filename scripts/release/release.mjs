// npm run release -- [--dry-run] [--out DIR] [STEP]...: the steps of a release (default: all). The release
// workflow runs each step on its machine; with --dry-run all run here, one after another, and nothing is published.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isAtLeast, nodeLines } from '../../ts/src/native/binaries.mjs'
import { checkDependencies } from '../check-dependencies.mjs'
import { checkPins } from '../check-pins.mjs'
import { phase, run, SetupError } from '../setup/run.mjs'
import { root, setup } from '../setup.mjs'
import { compareWithNpm, pinnedHttpServer, releaseHttpServer } from './httpServer.mjs'
import { gatherNative, glibcOf, oldestGlibc, readJson } from './native.mjs'
import { pack } from './pack.mjs'
import { thisPlatform } from './platforms.mjs'
import { tryPackages } from './try.mjs'

const manifest = readJson(join(root, 'package.json'))

/** Most bytes of an installation. */
const mostBytes = 25 * 2 ** 20

/** Steps in the order of a release. `out` is their shared folder; `isDry`: nothing is published. */
const steps = {
  /** The tag is the version, the changelog has it, and all dependencies are pinned and allowed. */
  async check({ isDry }) {
    const tag = process.env.GITHUB_REF_NAME
    if (!isDry && tag !== `v${manifest.version}`)
      throw new SetupError(`the tag is ${tag}, but the version is ${manifest.version}`)
    if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`\n## ${manifest.version} `)) {
      throw new SetupError(`CHANGELOG.md has no section for ${manifest.version}`)
    }
    const problems = [...checkPins(root), ...checkDependencies(root)]
    if (problems.length > 0) throw new SetupError(problems.join('\n'))
  },

  /** Writes the HTTP server's binaries to OUT/http-server. */
  async 'http-server'({ out, isDry }) {
    const folder = join(out, 'http-server')
    const abis = nodeLines.map(({ abi }) => abi)
    if (isDry) {
      say('not built: using the pinned files')
      pinnedHttpServer(root, folder, abis)
    } else await releaseHttpServer(root, folder, abis)
  },

  /** Checks that they have the exports of npm's binaries. Needs a system on which both load. */
  compare({ out }) {
    const problems = compareWithNpm(root, join(out, 'http-server'))
    if (problems.length > 0) throw new SetupError(problems.join('\n'))
  },

  /** Writes the addon and all native files of this platform to OUT/native/PLATFORM. */
  async native({ out, isDry }) {
    await setup()
    const { name } = thisPlatform()
    const folder = join(out, 'native', name)
    await gatherNative(root, manifest, name, folder, join(out, 'http-server'))
    if (process.platform !== 'linux') return
    for (const { name: file, glibc } of glibcOf(folder)) {
      const isOldEnough = isAtLeast(oldestGlibc, glibc)
      say(`${file} needs glibc ${glibc}${isOldEnough ? '' : `; released files may need at most ${oldestGlibc}`}`)
      if (!isOldEnough && !isDry) throw new SetupError(`${file} needs a more recent glibc than ${oldestGlibc}`)
    }
  },

  /** Writes the packages to OUT: the program, and those of each platform in OUT/native. */
  async pack({ out }) {
    await setup({ addon: false })
    for (const file of packagesIn(out)) rmSync(file)
    const natives = readdirSync(join(out, 'native'))
    await pack(
      natives.map((name) => [name, join(out, 'native', name)]),
      out,
    )
  },

  /** Installs the program from a local registry, with neither Rust nor a compiler on the path, and sends a request. */
  async try({ out }) {
    const { installed, installMs, answerMs, bytes } = await tryPackages(manifest, packagesIn(out))
    say(`npm chose ${installed.join(', ')}`)
    say(`installed in ${seconds(installMs)}, first answer after ${seconds(answerMs)}, ${bytes} bytes on disk`)
    if (bytes > mostBytes) throw new SetupError(`an installation may take at most ${mostBytes} bytes`)
  },

  /** Publishes the packages, the program last, because it depends on the others. */
  async publish({ out, isDry }) {
    const files = packagesIn(out).sort((left, right) => Number(isProgram(left)) - Number(isProgram(right)))
    for (const file of files) {
      const flags = isDry ? ['--dry-run'] : ['--provenance']
      await run('npm', ['publish', '--access', 'public', '--loglevel', 'error', ...flags, file], {
        cwd: root,
        shell: process.platform === 'win32',
      })
    }
  },
}

function packagesIn(out) {
  return readdirSync(out)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(out, name))
}

function isProgram(file) {
  return file.endsWith(`rhizome-node-rhizome-${manifest.version}.tgz`)
}

function say(line) {
  process.stdout.write(`${line}\n`)
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      out: { type: 'string', default: join(root, 'packages') },
    },
  })
  const unknown = positionals.find((name) => steps[name] === undefined)
  if (unknown !== undefined) throw new SetupError(`${unknown} is not one of the steps ${Object.keys(steps).join(', ')}`)
  const isDry = values['dry-run']
  const out = resolve(values.out)
  mkdirSync(out, { recursive: true })
  for (const name of positionals.length > 0 ? positionals : Object.keys(steps)) {
    await phase(`release: ${name}`, () => steps[name]({ out, isDry }))
  }
} catch (error) {
  if (!(error instanceof SetupError) && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
  process.stderr.write(`${error.message.replaceAll(/^/gm, 'release: ')}\n`)
  process.exitCode = 1
}
