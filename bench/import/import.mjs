// Import of the chain `load` into an empty data directory: the whole process, from its start to its end.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { canProfile, profileCommand } from '../profile/profile.mjs'
import { median } from '../rpc/compare.mjs'

/** No round starts later. */
const budgetMs = 60_000
/** Parts of the profile in the report. */
const shownParts = 10
const thisProgram = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
const chains = fileURLToPath(new URL('../../tests/vectors/chains/', import.meta.url))

/** The reference node's best run of the same import: two cores, native signatures, cold start included. */
const referenceSeconds = 83

/** The settings of public networks: blocks far behind the head are imported in groups. */
const publicSettings = { RHIZOME_STORAGE_HISTORY: 'full', RHIZOME_STORAGE_PROOFS: '128' }

export async function run(report, { isQuick = false } = {}) {
  const rounds = isQuick ? 1 : 3
  await withImports(async (importOnce, { spec, parameters }) => {
    const repeat = (options) => {
      const results = []
      const end = performance.now() + budgetMs
      while (results.length < rounds && (results.length === 0 || performance.now() < end))
        results.push(importOnce(options))
      return results
    }
    const results = repeat()
    const seconds = median(results.map((one) => one.seconds))
    const processorSeconds = median(results.map((one) => one.processorSeconds))
    report({ name: 'import of load, median', value: seconds * 1000, unit: 'ms' })
    if (processorSeconds > 0)
      report({ name: 'import of load, processor time', value: processorSeconds * 1000, unit: 'ms' })
    for (const [unit, amount] of Object.entries(contentOf(spec))) {
      report({ name: `import of load, ${unit}`, value: amount / seconds, unit: `${unit}/s` })
      report({ name: `the reference, ${unit}`, value: amount / referenceSeconds, unit: `${unit}/s` })
    }
    report({ name: 'speed in percent of the reference', value: (100 * referenceSeconds) / seconds, unit: '%' })
    const grouped = median(repeat({ env: publicSettings }).map((one) => one.seconds))
    report({ name: 'import of load, history = full, median', value: grouped * 1000, unit: 'ms' })
    const speed = (100 * referenceSeconds) / grouped
    report({ name: 'speed in percent of the reference, history = full', value: speed, unit: '%' })
    if (isQuick || !canProfile()) return
    const { parts, threads } = await profileCommand(process.execPath, parameters)
    const share = (name, value) =>
      report({ name: `profile: ${name}`, value: value * 100, unit: '% of the processor time' })
    for (const part of parts.slice(0, shownParts)) share(part.name, part.share)
    for (const thread of threads.slice(0, shownParts)) share(`threads "${thread.name}"`, thread.share)
  })
}

/**
 * Unpacks a chain and calls `measure` with a function that imports it once, into a new data directory, and returns
 * `{ seconds, processorSeconds }`. `program` and `env` choose another build.
 */
export async function withImports(measure, chain = 'load') {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-'))
  try {
    const [spec, blocks] = [`${chain}.json`, `${chain}.blocks.txt`].map((name) => unpack(name, folder))
    const dataDir = join(folder, 'data')
    const flags = ['import', '--chain', spec, '--data-dir', dataDir, blocks]
    const importOnce = ({ program = thisProgram, env = {} } = {}) => {
      const began = performance.now()
      const before = childrenSeconds()
      execFileSync(process.execPath, [program, ...flags], { stdio: 'ignore', env: { ...process.env, ...env } })
      const seconds = (performance.now() - began) / 1000
      const processorSeconds = childrenSeconds() - before
      rmSync(dataDir, { recursive: true })
      return { seconds, processorSeconds }
    }
    return await measure(importOnce, { folder, spec, blocks, parameters: [thisProgram, ...flags] })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Processor time of all child processes that have ended; 0 if the system does not report it. */
function childrenSeconds() {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

function unpack(name, folder) {
  const file = join(folder, name)
  writeFileSync(file, gunzipSync(readFileSync(`${chains}${name}.gz`)))
  return file
}

/** Number of blocks and transactions of a chain, and its gas in millions. */
export function contentOf(spec) {
  const { blocks } = JSON.parse(readFileSync(spec, 'utf8'))
  const sum = (amount) => blocks.reduce((total, block) => total + amount(block), 0)
  return {
    blocks: blocks.length,
    transactions: sum((block) => block.txCount),
    Mgas: sum((block) => Number(block.gasUsed)) / 1e6,
  }
}
