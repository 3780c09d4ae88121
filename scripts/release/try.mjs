// Installs packed packages in an empty folder with Node.js alone, and sends the node a request.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SetupError } from '../setup/run.mjs'

/** Installs the program and the package of `platform` and starts a node. Returns times and the size of the installation. */
export async function tryPackages({ name, version }, files, platform) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-packages-'))
  try {
    const project = join(folder, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private": true}')
    const env = environment(folder)
    const show = (command, ...parameters) => output(command, parameters, { cwd: project, env })
    const started = performance.now()
    const fitting = files.filter((file) =>
      [`rhizome-node-rhizome-`, `-${platform}-`].some((part) => file.includes(part)),
    )
    show('npm', 'install', '--no-audit', '--no-fund', ...fitting)
    const installMs = performance.now() - started
    if (show('npx', 'rhizome', '--version') !== version) throw new SetupError(`--version is not ${version}`)
    const load = `import(${JSON.stringify(`${name}/verify`)}).then((module) => console.log(typeof module.verifyHeader))`
    if (show('node', '-e', load) !== 'function') throw new SetupError(`${name}/verify does not load`)
    const loadBridge = `import(${JSON.stringify(`${name}/bridge`)}).then((module) => console.log(typeof module.DevelopmentBridge))`
    if (show('node', '-e', loadBridge) !== 'function') throw new SetupError(`${name}/bridge does not load`)
    const answerMs = await firstAnswer(project, env)
    return { installMs, answerMs, megabytes: bytesIn(join(project, 'node_modules')) / 2 ** 20 }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
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
  return output('sh', ['-c', `command -v ${name}`], {})
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

function output(command, parameters, options) {
  const shell = process.platform === 'win32'
  const result = spawnSync(command, parameters, { encoding: 'utf8', shell, ...options })
  if (result.status === 0) return result.stdout.trim()
  throw new SetupError(`${command} ${parameters.join(' ')}: ${result.error?.message ?? result.stderr}`)
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
