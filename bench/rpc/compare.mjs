// Measures workloads on all targets in interleaved rounds, so that noise affects all targets alike.
import { profileProcess } from '../profile/profile.mjs'
import { ceilingAnswer, ceilingBatch } from '../targets/ceiling.mjs'
import { drive, Plan } from './driver.mjs'
import { learn, NotServed } from './learn.mjs'

const mark = '@@@@@@@@@'

/**
 * Measures one workload. `contenders` are targets with their prepared chains; the ceiling has none. Resolves with one row:
 * for each target the medians of the rounds, or the reason of a failure.
 */
export async function compare(workload, contenders, pace) {
  const { entrants, results } = await enterAll(workload, contenders, pace)
  // The first answers are slow on every target: code is not compiled yet, caches are empty.
  for (const { warmUp } of entrants) await warmUp()
  for (let round = 0; round < pace.rounds; round++) {
    // Each round starts with another target.
    for (let turn = 0; turn < entrants.length; turn++) {
      const { target, measure, rounds } = entrants[(turn + round) % entrants.length]
      const before = target.processorMs
      const measured = await measure()
      rounds.push({ ...measured, processorMs: target.processorMs - before })
    }
  }
  for (const { target, end, rounds } of entrants) {
    await end()
    results[target.name] = summary(rounds, workload.calls ?? 1)
  }
  const { name, bar, unit, isPaced } = workload
  return { name, bar, unit, isPaced, results }
}

/** Returns profiles by target name, for the targets of `names` that this program has started. */
export async function profile(workload, contenders, pace, names) {
  const started = contenders.filter(({ target }) => target.child !== undefined && names.includes(target.name))
  const { entrants } = await enterAll(workload, started, { ...pace, name: 'profile' })
  const profiles = {}
  for (const { target, measure, end } of entrants) {
    const before = target.processorMs
    let requests = 0
    const found = await profileProcess(target.child.pid, async () => {
      requests += (await measure()).right * (workload.calls ?? 1)
    })
    profiles[target.name] = { ...found, processorMicros: ((target.processorMs - before) * 1000) / requests }
    await end()
  }
  return profiles
}

/** Targets that serve the workload, and the reasons of the others. */
async function enterAll(workload, contenders, pace) {
  const entrants = []
  const results = {}
  for (const contender of contenders) {
    if (contender.chain === undefined) continue
    try {
      entrants.push({ target: contender.target, ...(await enter(workload, contender, pace)), rounds: [] })
    } catch (error) {
      results[contender.target.name] = { [error instanceof NotServed ? 'notServed' : 'failed']: error.message }
    }
  }
  const ceiling = contenders.find(({ chain }) => chain === undefined)?.target
  const model = entrants.find(({ plan }) => plan !== undefined)
  if (ceiling !== undefined && model !== undefined)
    entrants.unshift({ target: ceiling, ...read(ceiling, model.plan.map(asCeiling), workload, pace), rounds: [] })
  return { entrants, results }
}

/** Prepares a workload on one target; a workload that changes the chain has its own `enter`. */
async function enter(workload, contender, pace) {
  if (workload.enter !== undefined) return workload.enter(contender, pace)
  const { target, chain } = contender
  return read(target, await learn(target.url, workload.requests(chain)), workload, pace)
}

function read({ url }, entries, { connections }, pace) {
  const plan = new Plan(entries)
  const options = { timeMs: pace.timeMs, connections: connections ?? pace.connections }
  return {
    plan: entries,
    warmUp: () => drive(url, plan, { ...options, timeMs: 3 * pace.timeMs }),
    measure: () => drive(url, plan, options),
    end: () => plan.remove(),
  }
}

/** Sums up the rounds of one target. A single wrong or lost answer is a failure. One request has `calls` calls. */
export function summary(rounds, calls) {
  const failures = rounds.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0)
  const right = rounds.reduce((sum, one) => sum + one.right, 0)
  if (failures > 0 || right === 0) {
    const fault = rounds.find((one) => typeof one.fault === 'string')?.fault ?? 'no answer in time'
    return { failed: `${failures} of ${failures + right} answers were wrong or lost: ${fault}` }
  }
  const rates = rounds.map((one) => (one.right / one.seconds) * calls)
  const processor = rounds.map((one) => (one.processorMs * 1000) / (one.right * calls))
  return {
    rate: median(rates),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    processorMicros: processor.some(Number.isNaN) ? undefined : median(processor),
    rates,
    p50s: rounds.map(({ p50 }) => p50),
    processors: processor,
  }
}

/** Median of the ratios of speed, round by round. */
export function ratio(one, other) {
  if (one?.rates === undefined || other?.rates === undefined) return undefined
  return median(one.rates.map((rate, round) => rate / other.rates[round]))
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The same request for the ceiling, with an answer of the same size. */
function asCeiling({ request, answer }) {
  if (!request.startsWith('['))
    return { path: `/${answer.length}`, request, answer: ceilingAnswer(mark, answer.length) }
  const sizes = JSON.parse(answer.replaceAll(mark, '111111111')).map((one) => JSON.stringify(one).length)
  return { path: `/${sizes.join(',')}`, request, answer: ceilingBatch(Array(sizes.length).fill(mark), sizes) }
}
