// Import of the chain `load` into an empty data directory: the whole process, from the command to its end.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { canProfile, profileCommand } from '../profile/profile.mjs'

/** No round begins after it. */
const budgetMs = 60_000
/** The rest is little. */
const shownParts = 10
const program = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
const chains = fileURLToPath(new URL('../../tests/vectors/chains/', import.meta.url))

/** The reference node's best run of the same import: two cores, native signatures, cold start included. */
const referenceSeconds = 83

export async function run(report, { isQuick = false } = {}) {
  const rounds = isQuick ? 1 : 3
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-'))
  const [spec, blocks] = ['load.json', 'load.blocks.txt'].map((name) => unpack(name, folder))
  const seconds = []
  const processor = []
  try {
    const end = performance.now() + budgetMs
    const dataDir = join(folder, 'data')
    const parameters = [program, 'import', '--chain', spec, '--data-dir', dataDir, blocks]
    for (let round = 0; round < rounds && (round === 0 || performance.now() < end); round++) {
      const began = performance.now()
      const before = childrenSeconds()
      execFileSync(process.execPath, parameters, { stdio: 'ignore' })
      seconds.push((performance.now() - began) / 1000)
      processor.push(childrenSeconds() - before)
      rmSync(dataDir, { recursive: true })
    }
    const median = seconds.sort((a, b) => a - b)[Math.floor(seconds.length / 2)]
    const content = measure(spec)
    report({ name: 'import of load, median', value: median * 1000, unit: 'ms' })
    const spent = processor.sort((a, b) => a - b)[Math.floor(processor.length / 2)]
    if (spent > 0) report({ name: 'import of load, processor time', value: spent * 1000, unit: 'ms' })
    for (const [unit, amount] of Object.entries(content)) {
      report({ name: `import of load, ${unit}`, value: amount / median, unit: `${unit}/s` })
      report({ name: `the reference, ${unit}`, value: amount / referenceSeconds, unit: `${unit}/s` })
    }
    report({ name: 'speed in percent of the reference', value: (100 * referenceSeconds) / median, unit: '%' })
    if (isQuick || !canProfile()) return
    const { parts, threads } = await profileCommand(process.execPath, parameters)
    const tell = (name, share) =>
      report({ name: `profile: ${name}`, value: share * 100, unit: '% of the processor time' })
    for (const { name, share } of parts.slice(0, shownParts)) tell(name, share)
    for (const { name, share } of threads.slice(0, shownParts)) tell(`threads "${name}"`, share)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Processor time of the programs that have ended, where the system tells it. */
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

function measure(spec) {
  const { blocks } = JSON.parse(readFileSync(spec, 'utf8'))
  const sum = (amount) => blocks.reduce((total, block) => total + amount(block), 0)
  return {
    blocks: blocks.length,
    transactions: sum((block) => block.txCount),
    Mgas: sum((block) => Number(block.gasUsed)) / 1e6,
  }
}
