// Import of the chain `bridge-forks`, whose transactions are calls of the Bridge, beside the reference node's ConnectBlocks.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../rpc/compare.mjs'
import { contentOf, withImports } from './import.mjs'

const chain = 'bridge-forks'

/** `reference` is the script that starts a built reference node; without it, only this node is measured. */
export async function run(report, { isQuick = false, reference } = {}) {
  const rounds = isQuick ? 1 : 3
  await withImports((importOnce, { folder, spec, blocks }) => {
    const settings = reference === undefined ? undefined : writeSettings(folder, spec)
    const [own, others] = [[], []]
    // In turn, so that other load on the machine hits both.
    for (let round = 0; round < rounds; round++) {
      own.push(importOnce().seconds)
      if (settings !== undefined) others.push(importByReference(reference, settings, folder, blocks))
    }
    const seconds = median(own)
    report({ name: `import of ${chain}, median`, value: seconds * 1000, unit: 'ms' })
    for (const [unit, amount] of Object.entries(contentOf(spec)))
      report({ name: `import of ${chain}, ${unit}`, value: amount / seconds, unit: `${unit}/s` })
    if (settings === undefined) return
    report({ name: 'the reference, median', value: median(others) * 1000, unit: 'ms' })
    report({
      name: 'import of the Bridge in percent of the reference',
      value: (100 * median(others)) / seconds,
      unit: '%',
    })
  }, chain)
}

/** Writes genesis and settings of the chain for the reference. Returns the path of the settings. */
function writeSettings(folder, spec) {
  const { genesis, activationHeights, consensusRules } = JSON.parse(readFileSync(spec, 'utf8')).spec
  const genesisFile = join(folder, 'genesis.json')
  writeFileSync(genesisFile, JSON.stringify(genesis))
  const config = { name: 'regtest', hardforkActivationHeights: activationHeights, consensusRules }
  const path = join(folder, 'reference.conf')
  // JSON is a form of the configuration format.
  writeFileSync(path, JSON.stringify({ blockchain: { config }, genesis: genesisFile }))
  return path
}

/** Imports the blocks into an empty database of the reference. Returns the seconds of the whole process. */
function importByReference(script, settings, folder, blocks) {
  const database = join(folder, 'reference')
  const env = {
    ...process.env,
    JAVA_OPTS: `-Drsk.conf.file=${settings} -Ddatabase.dir=${database}`,
    MAIN: 'co.rsk.cli.tools.ConnectBlocks',
    RSKJ_LOGS: join(folder, 'logs'),
  }
  const began = performance.now()
  execFileSync(script, ['--regtest', '-f', blocks], { stdio: 'ignore', env })
  const seconds = (performance.now() - began) / 1000
  rmSync(database, { recursive: true })
  return seconds
}
