// npm run durability -- [--kills N]: kills an import as often as asked (the test suite does ten times), then fills its disk
// and takes away its right to write. Each time the data directory must stay whole and the import go on to the same end.
import { parseArgs } from 'node:util'
import { run, SetupError } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

const usage = 'npm run durability -- [--kills N]'

let kills
try {
  const options = parseArgs({
    options: { kills: { type: 'string', default: '100' }, help: { type: 'boolean', short: 'h' } },
  })
  if (options.values.help) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  kills = options.values.kills
  if (!/^[1-9][0-9]{0,5}$/.test(kills)) throw new TypeError('--kills: expected a number above 0')
} catch (error) {
  process.stderr.write(`durability: ${error.message}\n`)
  process.exit(2)
}

try {
  await setup()
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'ts/tests/durability.test.ts']
  await run(process.execPath, vitest, { cwd: root, env: { ...process.env, DURABILITY_KILLS: kills } })
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
