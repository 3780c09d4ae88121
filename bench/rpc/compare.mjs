// Workloads over all targets in interleaved rounds, so that noise hits all alike.
import { ceilingAnswer, ceilingBatch } from '../targets/ceiling.mjs'
import { drive, Plan } from './driver.mjs'
import { learn, NotServed } from './learn.mjs'

const mark = '@@@@@@@@@'

/**
 * Measures one workload. `contenders` are targets with their prepared chains; the ceiling has none. Resolves with one row:
 * per target either medians of the rounds or the reason why there are none.
 */
export async function compare(workload, contenders, { rounds, timeMs, connections }) {
  const entrants = []
  const results = {}
  for (const { target, chain } of contenders) {
    if (chain === undefined) continue
    try {
      entrants.push({ target, plan: await learn(target.url, workload.requests(chain)), rounds: [] })
    } catch (error) {
      results[target.name] = { [error instanceof NotServed ? 'notServed' : 'failed']: error.message }
    }
  }
  const ceiling = contenders.find(({ chain }) => chain === undefined)
  if (ceiling !== undefined && entrants.length > 0)
    entrants.unshift({ target: ceiling.target, plan: entrants[0].plan.map(asCeiling), rounds: [] })
  for (const entrant of entrants) entrant.plan = new Plan(entrant.plan)
  // The first answers are slow everywhere: code that is not compiled yet, caches that are empty.
  for (const { target, plan } of entrants) await drive(target.url, plan, { connections, timeMs: timeMs / 4 })
  for (let round = 0; round < rounds; round++) {
    // Each round another one begins.
    for (let turn = 0; turn < entrants.length; turn++) {
      const entrant = entrants[(turn + round) % entrants.length]
      entrant.rounds.push(await measure(entrant, { connections, timeMs }))
    }
  }
  for (const { target, plan, rounds: measured } of entrants) {
    plan.remove()
    results[target.name] = summary(measured, workload.calls ?? 1)
  }
  return { name: workload.name, bar: workload.bar, results }
}

async function measure({ target, plan }, options) {
  const before = target.processorMs
  const measured = await drive(target.url, plan, options)
  const used = target.processorMs
  return { ...measured, processorMs: used === undefined ? undefined : used - before }
}

/** What the rounds of one target come to; one wrong or lost answer and there is no speed. `calls` go in one request. */
export function summary(rounds, calls) {
  const failures = rounds.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0)
  const right = rounds.reduce((sum, one) => sum + one.right, 0)
  if (failures > 0 || right === 0) {
    const { fault } = rounds.find((one) => one.fault !== null) ?? { fault: 'no answer in time' }
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
  }
}

/** Median over the rounds of how many times faster one is than another. */
export function ratio(one, other) {
  if (one?.rates === undefined || other?.rates === undefined) return undefined
  return median(one.rates.map((rate, round) => rate / other.rates[round]))
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The same request to the ceiling, and an answer of the same size. */
function asCeiling({ request, answer }) {
  const count = request.split(mark).length - 1
  if (!request.startsWith('['))
    return { path: `/${answer.length}`, request, answer: ceilingAnswer(mark, answer.length) }
  const sizes = JSON.parse(answer.replaceAll(mark, '111111111')).map((one) => JSON.stringify(one).length)
  return { path: `/${sizes.join(',')}`, request, answer: ceilingBatch(Array(count).fill(mark), sizes) }
}
