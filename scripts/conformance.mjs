// npm run conformance -- DIR [--suite NAME]... [--json]: runs golden data through the Rust core.
import { spawn } from 'node:child_process'
import { cargoEnvironment } from './setup/cargo.mjs'
import { SetupError } from './setup/run.mjs'
import { checkBuildTools, checkNode } from './setup/tools.mjs'
import { root } from './setup.mjs'

try {
  checkNode()
  checkBuildTools()
  const parameters = [
    'run',
    '--release',
    '--locked',
    '--quiet',
    '-p',
    'rhizome-chain',
    '--example',
    'conformance',
    '--',
  ]
  const child = spawn('cargo', [...parameters, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: await cargoEnvironment(),
  })
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
