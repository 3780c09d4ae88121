// Parts of the core: the EVM beside plain revm, the trie, sender recovery, the Bridge. Runs the Rust benches, which print
// `name: value unit`.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cargoEnvironment } from '../../scripts/setup/cargo.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const benches = { evm: 'evm', trie: 'trie', primitives: 'recovery', bridge: 'bridge' }

export async function run(report) {
  const env = await cargoEnvironment()
  for (const [crate, bench] of Object.entries(benches)) {
    const parameters = [
      'bench',
      '--locked',
      '--quiet',
      '--package',
      `rhizome-${crate}`,
      '--bench',
      bench,
      '--profile',
      'release',
    ]
    const output = execFileSync('cargo', parameters, {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    for (const [, name, value, unit] of output.matchAll(/^(.+): ([\d.]+) (\S+)$/gm))
      report({ name: `${crate}: ${name}`, value: Number(value), unit })
  }
}
