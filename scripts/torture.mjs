// npm run torture: runs the cases of ts/tests/torture for a given time; npm test runs a minute of each but fleet. --help lists the
// options.
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { run, SetupError } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

const usage = `npm run torture -- [OPTION]...
  --only NAME    only this case; can be given more than once (default: all cases but fleet at the same time)
  --minutes N    time during which new rounds start (default 10)
  --rounds N     N rounds instead of minutes
  --seed S       seed of the first round (default: random); each further round has the next number. A failing round is
                 printed with its own seed, and --rounds 1 with that seed replays it
  --list         the names
`

const names = readdirSync(`${root}/ts/tests/torture`).map((file) => file.replace(/\.\w+$/, ''))
const options = readOptions()
try {
  await setup()
  const variables = {
    ...(options.only === undefined ? {} : { TORTURE_ONLY: options.only.join(',') }),
    TORTURE_MINUTES: options.minutes ?? '10',
    ...(options.rounds === undefined ? {} : { TORTURE_ROUNDS: options.rounds }),
    ...(options.seed === undefined ? {} : { TORTURE_SEED: options.seed }),
  }
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'ts/tests/torture.test.ts']
  await run(process.execPath, vitest, { cwd: root, env: { ...process.env, ...variables } })
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function readOptions() {
  try {
    const text = { type: 'string' }
    const { values } = parseArgs({
      options: {
        only: { ...text, multiple: true },
        minutes: text,
        rounds: text,
        seed: text,
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help || values.list) {
      process.stdout.write(values.help ? usage : `${names.join('\n')}\n`)
      process.exit(0)
    }
    for (const name of values.only ?? [])
      if (!names.includes(name)) throw new TypeError(`--only: no case ${name}, expected ${names.join(', ')}`)
    if (values.minutes !== undefined && !(Number(values.minutes) > 0))
      throw new TypeError(`--minutes: expected a number above 0, got ${values.minutes}`)
    if (values.minutes !== undefined && values.rounds !== undefined)
      throw new TypeError('--rounds: cannot be given with --minutes')
    for (const name of ['rounds', 'seed'])
      if (!/^([1-9][0-9]{0,8})?$/.test(values[name] ?? ''))
        throw new TypeError(`--${name}: expected a number above 0, got ${values[name]}`)
    return values
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`torture: ${error.message}\n`)
    process.exit(2)
  }
}
