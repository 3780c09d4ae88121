// Runs cargo with the environment of this project: node scripts/cargo.mjs test --release
import { spawn } from 'node:child_process'
import { cargoEnvironment } from './setup/cargo.mjs'

const child = spawn('cargo', process.argv.slice(2), { stdio: 'inherit', env: await cargoEnvironment() })
child.on('error', (error) => {
  process.stderr.write(`cargo cannot be run: ${error.message}. Get Rust from https://rustup.rs\n`)
  process.exitCode = 1
})
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
