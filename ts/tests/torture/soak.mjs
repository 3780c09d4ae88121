import { buildDriver } from '../../../bench/rpc/driver.mjs'
import { run } from '../../../bench/soak/soak.mjs'

// The mixed load of `npm run bench -- --only soak` in one round: no answer may be lost or swapped, and memory must stay
// bounded.

const minute = 60_000
const leastMs = 6000
/** Minutes from which on a run uses a long chain, whose preparation is too slow for a short run. */
const longMinutes = 5
/** Limit of the memory of a node at the end; a short run cannot show growth. */
const memoryLimitMib = 1024

/** @type {import('../tortureCase.ts').TortureCase} */
export const torture = {
  prepare: () => {
    buildDriver()
    return { round }
  },
}

async function round({ random, timeMs }) {
  const results = []
  const minutes = Math.max(timeMs, leastMs) / minute
  const order = (requests) => random.shuffled(requests)
  await run((result) => results.push(result), { minutes, isQuick: minutes < longMinutes, order })
  const isBad = ({ name, value, isFailure }) => isFailure || (name === 'memory at the end' && value > memoryLimitMib)
  if (results.some(isBad)) throw new Error(results.map(({ name, value, unit }) => `${name}: ${value} ${unit}`).join('\n'))
}
