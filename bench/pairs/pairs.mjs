// This build of the node beside another build, in interleaved rounds: a workload is slower if the median of the ratios of its
// pairs is below the bar, in the first run and in a longer second one.
import { availableParallelism } from 'node:os'
import { prepare } from '../chain/prepare.mjs'
import { withImports } from '../import/import.mjs'
import { compare } from '../rpc/compare.mjs'
import { buildDriver } from '../rpc/driver.mjs'
import { workloads } from '../rpc/rpc.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { pairOf } from './ratio.mjs'

/** Least speed relative to the other build. */
const bar = 0.95
/** Name of the import in `--only`. */
const importName = 'import'

const thorough = { name: 'thorough', rounds: 9, timeMs: 500, connections: 32, longest: 10_000, imports: 5 }
const quick = { name: 'quick', rounds: 3, timeMs: 300, connections: 32, longest: 1000, imports: 1 }

/**
 * Measures the workloads that `only` accepts on both builds. `other` is `{ name, program, env }`. Calls `onPair` with each
 * result: `{ name, ratio, low, high, processor, isSlower }`; ratios above 1 mean that this build is faster or uses less.
 */
export async function runPairs({ other, only, isQuick, say, onPair }) {
  const pace = isQuick ? quick : thorough
  const judge = async (name, measure) => {
    const first = await measure(1)
    if (first === undefined) return
    const result = first.ratio < bar ? await measure(2) : first
    onPair({ name, ...result, isSlower: result.ratio < bar })
  }
  const wanted = workloads.filter(({ name }) => only(name))
  if (wanted.length > 0) await measureRequests({ other, wanted, pace, say, judge })
  if (only(importName)) await judge('import of load', (factor) => measureImports(other, pace.imports * factor))
}

async function measureRequests({ other, wanted, pace, say, judge }) {
  buildDriver()
  const workers = availableParallelism()
  const contenders = []
  try {
    for (const { name, program, env } of [{ name: 'this build' }, other]) {
      const target = await startRhizome({ name, workers, program, env })
      contenders.push({ target })
      contenders.at(-1).chain = await prepare(target.url, pace)
      say(`${name}: ${contenders.at(-1).chain.head} blocks`)
    }
    for (const workload of wanted) {
      await judge(workload.name, async (factor) => {
        const { results } = await compare(workload, contenders, { ...pace, rounds: pace.rounds * factor })
        const [own, others] = [results['this build'], results[other.name]]
        if (own.notServed !== undefined && own.notServed === others.notServed) {
          // For example a range of blocks that the chain of this pace does not have.
          say(`${workload.name}: left out, ${own.notServed}`)
          return undefined
        }
        const failure = own.failed ?? own.notServed ?? others.failed ?? others.notServed
        if (failure !== undefined) throw new Error(`${workload.name}: ${failure}`)
        return pairOf(own, others, workload.isPaced)
      })
    }
  } finally {
    await Promise.all(contenders.map(({ target }) => target.stop()))
  }
}

function measureImports(other, pairs) {
  return withImports((importOnce) => {
    const own = { rates: [], processors: [] }
    const others = { rates: [], processors: [] }
    for (let pair = 0; pair < pairs; pair++) {
      const order = [
        [own, {}],
        [others, other],
      ]
      for (const [results, options] of pair % 2 === 0 ? order : order.reverse()) {
        const { seconds, processorSeconds } = importOnce(options)
        results.rates.push(1 / seconds)
        results.processors.push(processorSeconds)
      }
    }
    return pairOf(own, others, false)
  })
}
