// npm run bench: runs the benchmarks and prints their results. See --help.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SetupError } from './setup/run.mjs'
import { setup } from './setup.mjs'

const usage = `npm run bench -- [OPTION]...
  --only NAME          only this benchmark or workload; can be given more than once
  --quick              short rounds and short chains, for a first impression
  --targets A,B        only these built-in targets
  --target NAME=URL    another node to compare with; can be given more than once. NAME=URL,WEBSOCKET_URL for both
  --against COMMIT     this build beside that of a commit, in interleaved pairs; fails if a workload is slower by 5 %
  --without NAME       this build beside itself without one of its optimizations, in interleaved pairs: inline-calls, batched-recovery
  --reference SCRIPT   starts a built reference node (rskj.sh); imports of the Bridge are measured beside it
  --entries N          growth, snap: storage slots and accounts of the last state (default: 1000000, with --quick 200000)
  --memory MB          growth: limits the memory of all its imports
  --node FILE          growth, fairness: the node of another checkout, its ts/rhizome.mjs
  --case TEXT          fairness: only cases whose name contains the text; can be given more than once
  --data-dir DIR       growth: an empty data directory to keep
  --minutes N          also the soak, for N minutes (with --only soak: 10 by default)
  --json FILE          writes all results
  --report FILE.md     writes the document, with its plots in a folder of the same name
  --from FILE          writes --report from the results in FILE instead of a measurement
  --list               prints the names
`

// The benchmarks import packages that set-up installs.
await setup()
const { runComparison, targetNames, workloads } = await import('../bench/rpc/rpc.mjs')
const { readTarget } = await import('../bench/targets/url.mjs')
const { machine } = await import('../bench/report/machine.mjs')
const { lines } = await import('../bench/report/table.mjs')
const { writeReport } = await import('../bench/report/report.mjs')

/** Benchmarks of this node alone. */
const own = {
  life: '../bench/life/life.mjs',
  boundary: '../bench/boundary/boundary.mjs',
  import: '../bench/import/import.mjs',
  'bridge-import': '../bench/import/bridge.mjs',
  sync: '../bench/sync/sync.mjs',
  snap: '../bench/snap/snap.mjs',
  core: '../bench/core/core.mjs',
  growth: '../bench/growth/growth.mjs',
  soak: '../bench/soak/soak.mjs',
  keys: '../bench/keys/keys.mjs',
  fairness: '../bench/fairness/fairness.mjs',
  explorer: '../bench/explorer/explorer.mjs',
  fleet: '../bench/fleet/fleet.mjs',
}
const options = readOptions()
const isWanted = (name) =>
  options.only === undefined ||
  options.only.some((one) => name === one || name.startsWith(`${one},`) || name.startsWith(`${one} `))
if (options.from !== undefined) {
  writeReport(options.report, JSON.parse(readFileSync(options.from, 'utf8')))
  process.exit(0)
}
if (options.against !== undefined || options.without !== undefined) {
  const { buildVersion } = await import('../bench/pairs/version.mjs')
  const { runPairs } = await import('../bench/pairs/pairs.mjs')
  const { pairLine } = await import('../bench/pairs/ratio.mjs')
  const say = (text) => process.stderr.write(`${text}\n`)
  const isAgainst = options.against !== undefined
  const other = isAgainst
    ? buildVersion(options.against, say)
    : { name: `without ${options.without}`, env: { BENCH_RHIZOME_WITHOUT: options.without } }
  const pairs = []
  await runPairs({
    other,
    only: isWanted,
    isQuick: options.quick === true,
    say,
    onPair: (pair) => {
      pairs.push(pair)
      process.stdout.write(`${pairLine(isAgainst ? pair : { ...pair, isSlower: false })}\n`)
      if (options.json !== undefined)
        writeFileSync(
          options.json,
          `${JSON.stringify({ machine: machine(), other: other.name, pairs }, undefined, 2)}\n`,
        )
    },
  })
  process.exit(isAgainst && pairs.some(({ isSlower }) => isSlower) ? 1 : 0)
}
const results = []
const rows = []
let comparison
if (workloads.some(({ name }) => isWanted(name))) {
  comparison = await runComparison({
    only: isWanted,
    names: options.targets,
    urls: options.urls,
    isQuick: options.quick === true,
    say: (text) => process.stderr.write(`${text}\n`),
    onRow: (row) => {
      rows.push(row)
      process.stdout.write(`${lines(row).join('\n')}\n`)
      save()
    },
  })
}
for (const [name, path] of Object.entries(own)) {
  if (!isWanted(name)) continue
  // These take minutes, so they run only on request.
  if (name === 'soak' && options.only === undefined && options.minutes === undefined) continue
  if ((name === 'growth' || name === 'snap') && options.only === undefined && options.entries === undefined) continue
  const { run } = await import(path)
  process.stdout.write(`${name}\n`)
  await run(
    (result) => {
      results.push({ benchmark: name, ...result })
      const value =
        Math.abs(result.value) < 100 ? result.value.toFixed(2) : Math.round(result.value).toLocaleString('en')
      process.stdout.write(`  ${result.name.padEnd(52)} ${value.padStart(12)} ${result.unit}\n`)
    },
    {
      minutes: options.minutes ?? 10,
      isQuick: options.quick === true,
      reference: options.reference,
      entries: options.entries,
      memory: options.memory,
      program: options.node,
      cases: options.case,
      dataDir: options['data-dir'],
    },
  )
  save()
}
const measured = save()
if (options.report !== undefined) writeReport(options.report, measured)
const isBad = rows.some((row) =>
  Object.entries(row.results).some(([name, { failed }]) => name.startsWith('rhizome') && failed),
)
process.exit(isBad || results.some(({ isFailure }) => isFailure) ? 1 : 0)

/** Writes the results so far, so that an interrupted run is not lost. */
function save() {
  const measured = { machine: machine(), comparison: { ...comparison, rows }, results }
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(measured, undefined, 2)}\n`)
  return measured
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        quick: { type: 'boolean' },
        targets: { type: 'string', default: targetNames.join(',') },
        target: { type: 'string', multiple: true, default: [] },
        against: { type: 'string' },
        without: { type: 'string' },
        reference: { type: 'string' },
        minutes: { type: 'string' },
        case: { type: 'string', multiple: true },
        entries: { type: 'string' },
        memory: { type: 'string' },
        node: { type: 'string' },
        'data-dir': { type: 'string' },
        from: { type: 'string' },
        json: { type: 'string' },
        report: { type: 'string' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const names = [...workloads.map(({ name }) => name), ...Object.keys(own)]
    if (values.help || values.list) {
      process.stdout.write(values.help ? usage : `${names.join('\n')}\n`)
      process.exit(0)
    }
    const targets = values.targets.split(',').filter((name) => name !== '')
    for (const name of targets)
      if (!targetNames.includes(name))
        throw new TypeError(`--targets: no target ${name}, expected ${targetNames.join(', ')}`)
    for (const one of values.only ?? [])
      if (!names.some((name) => name === one || name.startsWith(`${one},`) || name.startsWith(`${one} `)))
        throw new TypeError(`--only: no benchmark ${one}; --list shows the names`)
    const numbers = ['minutes', 'entries', 'memory'].map((name) => [name, above0(name, values[name])])
    if (values.against !== undefined && values.without !== undefined)
      throw new TypeError('--against and --without exclude each other')
    if (values.from !== undefined && values.report === undefined) throw new TypeError('--from: needs --report')
    return { ...values, ...Object.fromEntries(numbers), targets, urls: values.target.map(readTarget) }
  } catch (error) {
    if (error instanceof SetupError || !(error instanceof TypeError)) throw error
    process.stderr.write(`bench: ${error.message}\n`)
    process.exit(2)
  }
}

function above0(name, text) {
  const number = text === undefined ? undefined : Number(text)
  if (number !== undefined && !(number > 0)) throw new TypeError(`--${name}: expected a number above 0, got ${text}`)
  return number
}
