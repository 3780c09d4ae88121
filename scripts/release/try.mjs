// Installs packed packages in an empty folder with Node.js alone, and sends the node a request.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { outputOf, SetupError } from '../setup/run.mjs'
import { serveRegistry } from './registry.mjs'

/**
 * Installs the program by name and starts a node. Returns the packages that npm chose for this system and this Node.js, times,
 * and the size of the installation.
 */
export async function tryPackages({ name, version }, files) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-packages-'))
  try {
    const project = join(folder, 'project')
    const env = environment(folder)
    const show = (command, ...parameters) => output(command, parameters, { cwd: project, env })
    const started = performance.now()
    const installed = await installFrom(files, name, project, env)
    const installMs = performance.now() - started
    if ((await show('npx', 'rhizome', '--version')) !== version) throw new SetupError(`--version is not ${version}`)
    const load = `import(${JSON.stringify(`${name}/verify`)}).then((module) => console.log(typeof module.verifyHeader))`
    if ((await show('node', '-e', load)) !== 'function') throw new SetupError(`${name}/verify does not load`)
    const loadBridge = `import(${JSON.stringify(`${name}/bridge`)}).then((module) => console.log(typeof module.DevelopmentBridge))`
    if ((await show('node', '-e', loadBridge)) !== 'function') throw new SetupError(`${name}/bridge does not load`)
    const answerMs = await firstAnswer(project, env)
    return { installed, installMs, answerMs, bytes: bytesIn(join(project, 'node_modules')) }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Installs a package in the new folder `project`, from a registry of `files`. Returns the installed packages of its scope. */
export async function installFrom(files, name, project, env = process.env) {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"private": true}')
  const registry = await serveRegistry(files)
  try {
    // A separate cache: a later registry may have the same address and other packages.
    const flags = ['--no-audit', '--no-fund', '--registry', registry.url, '--cache', join(project, '../cache')]
    await output('npm', ['install', ...flags, name], { cwd: project, env })
  } finally {
    registry.close()
  }
  return readdirSync(join(project, 'node_modules', dirname(name))).sort()
}

/** Programs of a machine that only runs the node: Node.js and the programs that npm needs; on Windows the whole path. */
function environment(folder) {
  if (process.platform === 'win32') return process.env
  const place = join(folder, 'bin')
  mkdirSync(place)
  const own = dirname(process.execPath)
  // If npm is not in the folder of Node.js (e.g. with packages of a distribution), the npm of the path is used.
  for (const name of ['node', 'npm', 'npx'])
    symlinkSync(existsSync(join(own, name)) ? join(own, name) : which(name), join(place, name))
  for (const name of ['sh', 'env']) symlinkSync(`/bin/${name}`, join(place, name))
  const env = { PATH: place, HOME: process.env.HOME }
  if (spawnSync('cargo', ['--version'], { env }).error === undefined) throw new SetupError('cargo is on the path')
  return env
}

function which(name) {
  const path = outputOf('sh', ['-c', `command -v ${name}`])
  if (path === undefined) throw new SetupError(`${name} is not on the path`)
  return path
}

/** Returns the milliseconds from the start of the installed program to its answer to eth_chainId. */
async function firstAnswer(cwd, env) {
  const started = performance.now()
  const flags = ['rhizome', 'start', '--json', '--ephemeral', '--http-port', '0']
  const child = spawn('npx', flags, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
    detached: process.platform !== 'win32',
  })
  try {
    const url = await new Promise((resolve, reject) => {
      let text = ''
      child.stdout.on('data', (bytes) => {
        text += bytes
        if (text.includes('\n')) resolve(JSON.parse(text).url)
      })
      child.on('close', () => reject(new SetupError('the node ended before it answered')))
    })
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result } = await reply.json()
    if (result !== '0x21') throw new SetupError(`eth_chainId is ${result}`)
    return performance.now() - started
  } finally {
    // Kills the process group, because npx starts the node through a shell.
    if (process.platform === 'win32') child.kill()
    else process.kill(-child.pid)
    await new Promise((resolve) => child.once('exit', resolve))
  }
}

/** Returns the output of a program. Not blocking, because the registry answers in this thread. */
async function output(command, parameters, options) {
  const shell = process.platform === 'win32'
  try {
    const { stdout } = await promisify(execFile)(command, parameters, { shell, ...options })
    return stdout.trim()
  } catch (error) {
    throw new SetupError(`${command} ${parameters.join(' ')}: ${error.stderr || error.message}`)
  }
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
