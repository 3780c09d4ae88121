// anvil, from its npm package; the folder `anvil` has the lock file.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from '../../scripts/setup/run.mjs'
import { answers, freePort, launch, scratchFolder, Target } from './target.mjs'

const project = fileURLToPath(new URL('./anvil', import.meta.url))

export async function startAnvil({ workers }) {
  const program = findProgram()
  const port = await freePort()
  const began = performance.now()
  const flags = ['--host', '127.0.0.1', '--port', `${port}`, '--silent', '--accounts', '1', '--gas-limit', '30000000']
  // Without it anvil leaves gigabytes of old states in the home folder.
  const states = ['--cache-path', scratchFolder('anvil')]
  const child = launch(program, [...flags, ...states, '--steps-tracing', '--threads', `${workers}`])
  const url = `http://127.0.0.1:${port}`
  await answers(url, child)
  const startMs = performance.now() - began
  return new Target({ name: 'anvil', url, webSocketUrl: url.replace('http', 'ws'), child, startMs })
}

function findProgram() {
  const modules = join(project, 'node_modules')
  if (!existsSync(modules)) {
    // Not `ci`, which requires the packages of all platforms; a registry can lack some.
    const parameters = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const shell = process.platform === 'win32'
    if (outputOf('npm', parameters, { cwd: project, shell }) === undefined)
      throw new Error('npm cannot install @foundry-rs/anvil')
  }
  const { platform } = process
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = platform === 'win32' ? 'anvil.exe' : 'anvil'
  try {
    const file = `@foundry-rs/anvil-${platform}-${arch}/package.json`
    return join(createRequire(join(project, 'package.json')).resolve(file), '..', 'bin', name)
  } catch {
    throw new Error(`anvil has no package for ${platform} ${arch}`)
  }
}
