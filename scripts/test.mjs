// npm test: sets up missing parts, then runs everything that CI runs, in this order: static checks, Rust tests, the
// addon, the tests of TypeScript with real clients and the examples. The last line has the totals.
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { checks } from './checks.mjs'
import { cargoEnvironment } from './setup/cargo.mjs'
import { installClients } from './setup/clients.mjs'
import { installNatsServer } from './setup/natsServer.mjs'
import { phase, run, SetupError } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

const totals = { passed: 0, failed: 0 }
const failures = []

async function attempt(name, work) {
  try {
    await phase(name, work)
  } catch (error) {
    failures.push(name)
    process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`)
  }
}

/** Runs the tests of cargo and reads the results from their output. */
async function rustTests() {
  const parameters = ['test', '--release', '--workspace', '--locked', '--no-fail-fast']
  const output = await show('cargo', parameters, await cargoEnvironment())
  for (const [, passed, failed] of output.text.matchAll(/^test result: \S+ (\d+) passed; (\d+) failed/gm)) {
    totals.passed += Number(passed)
    totals.failed += Number(failed)
  }
  for (const [, name, reason] of output.text.matchAll(/^test (\S+) \.\.\. ignored, (.+ is not installed)$/gm))
    process.stdout.write(`not run: ${name}: ${reason}\n`)
  if (output.code !== 0) throw new SetupError('Rust tests failed')
}

async function typeScriptTests() {
  const report = `${root}/node_modules/.cache/vitest.json`
  rmSync(report, { force: true })
  const { code } = await show(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], process.env)
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  for (const { status, title } of tests) {
    if (status === 'skipped' || status === 'pending')
      process.stdout.write(`${title.replace(/^(?!not run: )/, 'not run: ')}\n`)
  }
  totals.passed += numPassedTests
  totals.failed += numFailedTests
  if (code !== 0) throw new SetupError('TypeScript tests failed')
}

/** Runs a program, prints its output and returns it. */
function show(command, parameters, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (bytes) => {
      text += bytes
      process.stdout.write(bytes)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })
}

await attempt('set-up of the packages', () => setup({ addon: false }))
for (const [name, check] of checks(root)) await attempt(name, check)
await attempt('nats-server', installNatsServer)
await attempt('Rust tests', rustTests)
await attempt('addon and bundle', () => setup({ addon: true, hardhat: true }))
await attempt('tools of docs/tools.md', installClients)
await attempt('typings of the addon', async () =>
  run(process.execPath, ['crates/addon/typings.mjs', '--check'], { cwd: root, env: await cargoEnvironment() }),
)
await attempt('TypeScript tests, clients and examples', typeScriptTests)

// A failed phase without a failed test (a static check, a build) counts as one failure.
const failed = Math.max(totals.failed, failures.length)
if (failures.length > 0) process.stdout.write(`failed: ${failures.join(', ')}\n`)
process.stdout.write(`${totals.passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 ? 1 : 0
