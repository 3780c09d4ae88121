// npm run conformance -- DIR [--suite NAME]... [--json]: runs golden data. Transcripts of JSON-RPC (rpc) are replayed
// against real nodes; the other suites run through the Rust core.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { loadBundle } from './setup/bundle.mjs'
import { cargoEnvironment } from './setup/cargo.mjs'
import { SetupError } from './setup/run.mjs'
import { checkBuildTools, checkSystem } from './setup/tools.mjs'
import { root, setup } from './setup.mjs'

const coreSuites = ['state', 'blocks', 'evm', 'chains', 'bridge']
const suites = [...coreSuites, 'rpc']
const usage = `npm run conformance -- DIR [--suite ${suites.join('|')}]... [--json] [--forget-passed]
  --forget-passed  takes steps of transcripts that pass out of the list of known failures`

/** Folder and suites to run: the named suites, otherwise all suites with data. */
function parseCommand() {
  const options = {
    suite: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    'forget-passed': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return values
  if (positionals.length !== 1) throw new TypeError('expected one folder')
  const unknown = values.suite.find((suite) => !suites.includes(suite))
  if (unknown !== undefined) throw new TypeError(`unknown suite ${unknown}`)
  const folder = resolve(positionals[0])
  const asked = values.suite.length === 0 ? suites.filter((suite) => folderOf(folder, suite, [])) : values.suite
  for (const suite of asked) {
    if (!folderOf(folder, suite, asked)) throw new TypeError(`${folder} has no golden data for ${suite}`)
  }
  if (asked.length === 0) throw new TypeError(`${folder} has no golden data`)
  return { folder, asked, isJson: values.json, isForgetting: values['forget-passed'] }
}

/** Where the files of a suite are: in a folder of its name, or in DIR itself. */
function folderOf(folder, suite, asked) {
  if (existsSync(join(folder, suite))) return join(folder, suite)
  const isOwn = basename(folder) === suite || (asked.length === 1 && existsSync(folder))
  return isOwn ? folder : undefined
}

/** Runs suites of the Rust core; their totals. Everything but the totals is passed on. */
async function runCore(folder, asked, isJson) {
  const program = ['run', '--release', '--locked', '--quiet', '-p', 'rhizome-conformance', '--']
  const parameters = [folder, ...asked.flatMap((suite) => ['--suite', suite]), ...(isJson ? ['--json'] : [])]
  const stdio = ['inherit', 'pipe', 'pipe']
  const child = spawn('cargo', [...program, ...parameters], { cwd: root, stdio, env: await cargoEnvironment() })
  const totals = { passed: 0, failed: 0, known: 0 }
  const passOn = (from, to) => {
    let rest = ''
    from.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()
      for (const line of lines) {
        const found = /^(\d+) passed, (\d+) failed(?:, (\d+) known failures)?$/.exec(line)
        if (found === null) to.write(`${line}\n`)
        else [totals.passed, totals.failed, totals.known] = found.slice(1).map((count) => Number(count ?? 0))
      }
    })
  }
  passOn(child.stdout, process.stdout)
  passOn(child.stderr, process.stderr)
  const code = await new Promise((done) => child.on('close', done))
  if (code !== 0 && totals.failed === 0) totals.failed = 1
  return totals
}

async function runTranscripts(folder, isJson, isForgetting) {
  await setup()
  const { run } = await loadBundle(root, 'replay', 'ts/tests/conformance/main.ts')
  return run(root, folder, isJson, isForgetting)
}

let command
try {
  command = parseCommand()
} catch (error) {
  process.stderr.write(`conformance: ${error.message}\n${usage}\n`)
  process.exit(2)
}
if (command.help) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

try {
  const { folder, asked, isJson, isForgetting } = command
  const all = []
  checkSystem(root)
  const core = asked.filter((suite) => suite !== 'rpc')
  if (core.length > 0) {
    checkBuildTools()
    all.push(await runCore(folder, core, isJson))
  }
  if (asked.includes('rpc')) all.push(await runTranscripts(folderOf(folder, 'rpc', asked), isJson, isForgetting))
  const sum = (name) => all.reduce((total, one) => total + (one[name] ?? 0), 0)
  const known = sum('known') > 0 ? `, ${sum('known')} known failures` : ''
  const totals = `${sum('passed')} passed, ${sum('failed')} failed${known}\n`
  // In JSON mode the output holds cases only.
  ;(isJson ? process.stderr : process.stdout).write(totals)
  process.exitCode = sum('failed') > 0 ? 1 : 0
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
