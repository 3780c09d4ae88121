// npm run fuzz: runs the tests with random input for a given time, with a new seed for each run. npm test runs a few seconds
// of each. A failing input is stored in tests/corpus. --help lists the options.
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { searchAgainst } from './fuzz/against.mjs'
import { cargoEnvironment } from './setup/cargo.mjs'
import { run, SetupError } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

/** Cases for a run of some minutes; the test suite runs 256. */
const defaultCases = '20000'
/** Number of random programs of a search against a reference node. */
const defaultTransactions = '2000'
const usage = `npm run fuzz -- [OPTION]...
  --cases N      N cases of each test (default ${defaultCases})
  --minutes N    run the targets of tests/corpus instead, each for its share of this time
  --only TARGET  only this target of tests/corpus; can be given more than once
  --seed S       seed of the random numbers (default: random); it is printed
  --list         the targets
  --against PATH a peg and random programs, or changes of federations, in blocks of a reference node that the program PATH
                 starts (rskj.sh), imported and compared, damaged copies of the blocks, which both nodes must accept or both
                 refuse, then pools with transactions of the Bridge; --cases is the number of programs (default
                 ${defaultTransactions})
`

const targets = readdirSync(`${root}/tests/corpus`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const options = readOptions()

try {
  await setup()
  const { against, cases, seed = String(randomInt(1, 10 ** 9)) } = options
  if (against === undefined) await runTests(cases ?? defaultCases, seed)
  else {
    const differences = await searchAgainst(root, resolve(against), Number(cases ?? defaultTransactions), Number(seed))
    process.exitCode = differences > 0 ? 1 : 0
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** Runs the tests with random input. */
async function runTests(cases, seed) {
  // Environment variables of proptest; the tests over JSON-RPC read them, too.
  const env = { ...(await cargoEnvironment()), PROPTEST_CASES: cases, PROPTEST_RNG_SEED: seed }
  const isAll = options.minutes === undefined && options.only === undefined
  const chosen = options.only ?? targets
  process.stdout.write(`${isAll ? 'all tests' : chosen.join(', ')}, seed ${seed}\n`)
  if (options.minutes !== undefined) {
    env.PROPTEST_CASES = '256'
    env.FUZZ_SECONDS = String(Math.max(1, Math.round((60 * Number(options.minutes)) / chosen.length)))
    // One after the other, so that each target gets its whole time.
    env.RUST_TEST_THREADS = '1'
  }
  const cargo = ['test', '--release', '--workspace', '--locked', '--no-fail-fast']
  const rust = chosen.filter((name) => name !== 'envelope')
  if (isAll) await run('cargo', [...cargo, 'fuzz_'], { cwd: root, env })
  else if (rust.length > 0) await run('cargo', [...cargo, '--', ...filters(rust)], { cwd: root, env })
  if (isAll || chosen.includes('envelope')) {
    const only = isAll ? [] : ['-t', 'envelopes of the corpus']
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'ts/tests/fuzz.test.ts', ...only]
    await run(process.execPath, vitest, { cwd: root, env })
  }
}

/** Returns the names for the test programs, which match parts of names: `block` also matches `block-file`. */
function filters(chosen) {
  const others = targets.filter((name) => !chosen.includes(name))
  const longer = others.filter((name) => chosen.some((one) => name.startsWith(one)))
  const skipped = longer.filter((name) => !chosen.some((one) => one.startsWith(name)))
  const test = (name) => `fuzz_corpus_${name.replaceAll('-', '_')}`
  return [...chosen.map(test), ...skipped.flatMap((name) => ['--skip', test(name)])]
}

function readOptions() {
  try {
    const text = { type: 'string' }
    const { values } = parseArgs({
      options: {
        cases: text,
        minutes: text,
        only: { ...text, multiple: true },
        seed: text,
        against: text,
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help || values.list) {
      process.stdout.write(values.help ? usage : `${targets.join('\n')}\n`)
      process.exit(0)
    }
    for (const name of ['cases', 'seed']) {
      if (!/^([1-9][0-9]{0,8})?$/.test(values[name] ?? '')) throw new TypeError(`--${name}: expected a number above 0`)
    }
    if (values.minutes !== undefined && !(Number(values.minutes) > 0 && Number(values.minutes) < 1e5))
      throw new TypeError(`--minutes: expected a number above 0, got ${values.minutes}`)
    if (values.minutes !== undefined && values.cases !== undefined)
      throw new TypeError('--cases: cannot be given with --minutes')
    if (values.against !== undefined && (values.minutes ?? values.only) !== undefined)
      throw new TypeError('--against: cannot be given with --minutes or --only')
    for (const name of values.only ?? [])
      if (!targets.includes(name)) throw new TypeError(`--only: no target ${name}, expected ${targets.join(', ')}`)
    return values
  } catch (error) {
    process.stderr.write(`fuzz: ${error.message}\n`)
    process.exit(2)
  }
}
