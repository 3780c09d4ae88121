// The comparison: starts all targets, prepares the same chain on each, and measures the workloads.
import { availableParallelism } from 'node:os'
import { prepare } from '../chain/prepare.mjs'
import { canProfile } from '../profile/profile.mjs'
import { rowBars } from '../report/bars.mjs'
import { bestOther } from '../report/table.mjs'
import { startAnvil } from '../targets/anvil.mjs'
import { startCeiling } from '../targets/ceiling.mjs'
import { startGeth } from '../targets/geth.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { useTarget } from '../targets/url.mjs'
import { compare, profile } from './compare.mjs'
import { buildDriver } from './driver.mjs'
import { reads } from './reads.mjs'
import { alone, saturated } from './saturation.mjs'
import { sending } from './sending.mjs'
import { fanOut, socketRequests } from './subscribers.mjs'

/** Workloads in the order of the run; workloads that change the chain are last. */
export const workloads = [...reads, alone, saturated, socketRequests, fanOut, sending]

const workers = availableParallelism()
const starters = {
  rhizome: () => startRhizome({ workers }),
  ceiling: () => startCeiling({ workers }),
  'rhizome-1': () => startRhizome({ name: 'rhizome-1', workers: 1 }),
  anvil: () => startAnvil({ workers }),
  geth: () => startGeth({ workers }),
}
export const targetNames = Object.keys(starters)

/** Number and duration of rounds. */
const thorough = { name: 'thorough', rounds: 5, timeMs: 600, connections: 32, longest: 100_000, isProfiled: true }
const quick = { name: 'quick', rounds: 2, timeMs: 300, connections: 32, longest: 1000 }

/**
 * Measures the workloads that `only` accepts. `names` are built-in targets, `urls` others. Calls `onRow` with each row.
 * Resolves with the facts of the targets.
 */
export async function runComparison({ only, names = targetNames, urls = [], isQuick, say, onRow }) {
  const pace = isQuick ? quick : thorough
  buildDriver()
  const contenders = []
  const absent = {}
  try {
    for (const [name, start] of [
      ...names.map((one) => [one, starters[one]]),
      ...urls.map((one) => [one.name, () => useTarget(one)]),
    ]) {
      try {
        contenders.push(await enter(name, start, pace, say))
      } catch (error) {
        if (name.startsWith('rhizome')) throw error
        // The comparison continues without this target.
        absent[name] = error.message
        say(`${name} is left out: ${error.message}`)
      }
    }
    const reference = contenders.find(({ target }) => target.isReference)?.target.name
    for (const workload of workloads) {
      if (!only(workload.name)) continue
      const row = await compare(workload, contenders, pace)
      const isMissed = rowBars(row, reference).some(({ isMet }) => !isMet)
      if (isMissed && pace.isProfiled && canProfile())
        row.profiles = await profile(workload, contenders, pace, ['rhizome', 'ceiling', bestOther(row)?.name])
      onRow(row)
    }
    const facts = contenders.map(({ target }) => {
      const { name, startMs, memoryKib, isReference } = target
      return { name, startMs, memoryKib, isReference }
    })
    return { facts, absent, pace }
  } finally {
    await Promise.all(contenders.map(({ target }) => target.stop()))
  }
}

async function enter(name, start, { longest }, say) {
  const target = await start()
  if (name === 'ceiling') return { target }
  const began = performance.now()
  try {
    // With one worker only the sharing of sockets differs, so a short chain is enough.
    const chain = await prepare(target.url, { longest: name === 'rhizome-1' ? 1000 : longest })
    say(`${name}: ${chain.head} blocks in ${Math.round((performance.now() - began) / 1000)} s`)
    return { target, chain }
  } catch (error) {
    await target.stop()
    throw error
  }
}
