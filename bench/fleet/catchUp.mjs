// The speed at which a new replica gets the blocks of a fleet, against an import of the same blocks from a file.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { call, until } from '../chain/client.mjs'
import { withImports } from '../import/import.mjs'
import { median } from '../rpc/compare.mjs'
import { scratchFolder } from '../targets/target.mjs'

const program = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))

const limitMs = 120_000
/** A request costs a millisecond of processor time, which the replica lacks. */
const pauseMs = 50

/** `start` starts a node of the fleet at `url`. Returns the median ratio of interleaved rounds, both with the start of the program. */
export async function catchUpSpeed({ url, start, rounds }) {
  const ratios = []
  await withImports(async (importOnce, { spec, blocks }) => {
    const data = (name) => ['--chain', spec, '--data-dir', `${scratchFolder(name)}/data`]
    const flags = data('log')
    // Notes the blocks for the log.
    const env = { ...process.env, RHIZOME_FLEET_ROLE: 'importer', RHIZOME_FLEET_URL: url }
    execFileSync(process.execPath, [program, 'import', ...flags, blocks], { stdio: 'ignore', env })
    const importer = await start('importer', 1, ...flags, '--mining', 'off')
    const head = await call(importer.url, 'eth_blockNumber')
    try {
      // The first replica waits until all blocks are in the log.
      for (let round = 0; round <= rounds; round++) {
        const imported = importOnce()
        const began = performance.now()
        const replica = await start('replica', 1, ...data('replica'))
        const hasAll = async () => ((await call(replica.url, 'eth_blockNumber')) === head ? true : undefined)
        await until(hasAll, 'to catch up', limitMs, pauseMs)
        const seconds = (performance.now() - began) / 1000
        await replica.stop()
        if (round > 0) ratios.push(imported.seconds / seconds)
      }
    } finally {
      await importer.stop()
    }
  })
  return median(ratios)
}
