// npm run live: this node beside a running reference node on this machine. Prints the figure of the reference for the same
// task beside each figure. Part of the checks before a release. --help lists the options.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checks } from './live/checks.mjs'
import { SetupError } from './setup/run.mjs'
import { setup } from './setup.mjs'

const usage = `npm run live -- [OPTION]... [CHECK]...
  --reference PATH  the program that starts a reference node (default: the variable RSKJ)
  --blocks N        length of the chains (default 600)
  --seed N          random numbers of fork (default 1)
  --record FILE     file for the answers of the reference in fork, for tests without it
  --rounds N        blocks and transactions of relay, in each direction (default 50)
checks (default: all):
${Object.entries(checks)
  .map(([name, { description }]) => `  ${name.padEnd(16)}  ${description}`)
  .join('\n')}
`

const { values, positionals } = readOptions()
const program = values.reference ?? process.env.RSKJ
if (program === undefined || !existsSync(program)) {
  process.stdout.write('skipped: there is no reference node; --reference PATH names the program that starts one\n')
} else {
  try {
    await setup()
    const settings = {
      program: resolve(program),
      blocks: Number(values.blocks),
      rounds: Number(values.rounds),
      seed: Number(values.seed),
      record: values.record,
    }
    for (const name of positionals.length > 0 ? positionals : Object.keys(checks)) await checks[name].run(settings)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

function readOptions() {
  try {
    const options = {
      reference: { type: 'string' },
      blocks: { type: 'string', default: '600' },
      rounds: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      record: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    }
    const parsed = parseArgs({ options, allowPositionals: true })
    if (parsed.values.help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    for (const name of parsed.positionals)
      if (!Object.hasOwn(checks, name))
        throw new TypeError(`no check ${name}, expected ${Object.keys(checks).join(', ')}`)
    for (const name of ['blocks', 'rounds', 'seed'])
      if (!/^[1-9][0-9]{0,5}$/.test(parsed.values[name]))
        throw new TypeError(`--${name}: expected a number above 0, got ${parsed.values[name]}`)
    return parsed
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`npm run live: ${error.message}\n`)
    process.exit(2)
  }
}
