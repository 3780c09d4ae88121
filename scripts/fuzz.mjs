// npm run fuzz -- [--cases N] [--seed N]: the tests with random input for as long as asked, from another start each
// time. What it finds becomes an ordinary test.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { cargoEnvironment } from './setup/cargo.mjs'
import { run, SetupError } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

/** Enough for some minutes; the test suite runs 256. */
const defaultCases = '20000'
const usage = 'npm run fuzz -- [--cases N] [--seed N]'

let options
try {
  const kinds = { cases: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } }
  options = parseArgs({ options: kinds }).values
  for (const name of ['cases', 'seed']) {
    if (!/^([1-9][0-9]{0,8})?$/.test(options[name] ?? '')) throw new TypeError(`--${name}: expected a number above 0`)
  }
} catch (error) {
  process.stderr.write(`fuzz: ${error.message}\n`)
  process.exit(2)
}
if (options.help) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

try {
  await setup()
  const cases = options.cases ?? defaultCases
  const seed = options.seed ?? String(randomInt(1, 10 ** 9))
  process.stdout.write(`${cases} cases of each test, seed ${seed}\n`)
  // Proptest's own settings; the tests over JSON-RPC take them too.
  const env = { ...(await cargoEnvironment()), PROPTEST_CASES: cases, PROPTEST_RNG_SEED: seed }
  await run('cargo', ['test', '--release', '--workspace', '--locked', '--no-fail-fast', 'fuzz_'], { cwd: root, env })
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'ts/tests/fuzz.test.ts']
  await run(process.execPath, vitest, { cwd: root, env })
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
