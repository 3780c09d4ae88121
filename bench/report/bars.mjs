// Target values of the benchmarks, and whether a run meets them.
import { ratio } from '../rpc/compare.mjs'
import { growthBars } from './growth.mjs'
import { bestOther } from './table.mjs'

const leastAheadOfOthers = 2
const leastAheadOfReference = 5
const leastBatchGain = 5
const mostLogGrowth = 1.3
const mostSaturationGrowth = 3
const mostSoakMs = 20
const leastOfRecovery = 0.5
const leastImportPercent = 1000
const leastBridgePercent = 500
const mostOfExecution = 2

/** The bars of one workload; `reference` is the name under which the reference node was measured, if it was. */
export function rowBars(row, reference) {
  const { name, bar, isPaced, results } = row
  if (isPaced) return []
  const all = []
  const add = (wanted, least, other, text, suffix = '') => {
    const value = ratio(results.rhizome, results[other])
    if (value === undefined) return
    const processor = text(spentRatio(row, other))
    all.push({ name, wanted, got: text(value) + suffix, processor, isMet: value >= least })
  }
  if (bar !== undefined) add(`${bar} of the ceiling`, bar, 'ceiling', shareText)
  const best = bestOther(row)
  if (best !== undefined)
    add(`${leastAheadOfOthers} x the best other`, leastAheadOfOthers, best.name, timesText, ` ${best.name}`)
  if (reference !== undefined)
    add(`${leastAheadOfReference} x the reference`, leastAheadOfReference, reference, timesText)
  return all
}

const shareText = (value) => value?.toFixed(2) ?? ''
const timesText = (value) => (value === undefined ? '' : `${value.toFixed(1)} x`)

export function bars({ comparison: { rows, facts = [] }, results }) {
  const of = (name) => rows.find((row) => row.name === name)?.results.rhizome
  const reference = facts.find(({ isReference }) => isReference)?.name
  const all = rows.flatMap((row) => rowBars(row, reference))
  const add = (name, wanted, value, isMet, text = value?.toFixed(2)) => {
    if (value !== undefined) all.push({ name, wanted, got: text, processor: '', isMet })
  }
  const batch = ratio(of('batch of 20'), of('eth_getBalance'))
  add('batch of 20, for each call', `${leastBatchGain} x a single request`, batch, batch >= leastBatchGain)
  const growth = ratio(of('eth_getLogs, 10,000 blocks'), of('eth_getLogs, 100,000 blocks'))
  add(
    'eth_getLogs, from 10,000 to 100,000 blocks',
    `at most ${mostLogGrowth} x the time`,
    growth,
    growth <= mostLogGrowth,
  )
  const [alone, beside] = [of('light methods alone'), of('light methods beside heavy ones')]
  const slower = alone?.p99 === undefined || beside?.p99 === undefined ? undefined : beside.p99 / alone.p99
  add(
    'p99 of light methods beside heavy ones',
    `at most ${mostSaturationGrowth} x alone`,
    slower,
    slower <= mostSaturationGrowth,
  )
  // Processor time does not depend on other load of the machine.
  const recovery = results.find(({ name }) => name === 'personalEcRecover, processor time of a call')?.value
  const spent = of('eth_sendRawTransaction')?.processorMicros
  const share = recovery === undefined || spent === undefined ? undefined : recovery / spent
  add(
    'eth_sendRawTransaction',
    `${leastOfRecovery} of the speed of recovering a sender`,
    share,
    share >= leastOfRecovery,
  )
  const load = results.find(({ name }) => name === 'speed in percent of the reference')?.value
  add(
    'import of load, in percent of the reference',
    `${leastImportPercent}`,
    load,
    load >= leastImportPercent,
    load?.toFixed(0),
  )
  const bridge = results.find(({ name }) => name === 'import of the Bridge in percent of the reference')?.value
  add(
    'import of bridge-forks, in percent of the reference',
    `${leastBridgePercent}`,
    bridge,
    bridge >= leastBridgePercent,
    bridge?.toFixed(0),
  )
  const execution = results.find(({ name }) => name === 'evm: load by plain revm')?.value
  const imported = results.find(({ name }) => name === 'import of load, median')?.value
  const times = execution === undefined || imported === undefined ? undefined : imported / 1000 / execution
  add(
    'import of load',
    `at most ${mostOfExecution} x the time of its execution by plain revm`,
    times,
    times <= mostOfExecution,
  )
  const soak = results.find(({ name }) => name === 'blockNumber: 99% within')?.value
  add('p99 of eth_blockNumber in the soak', `at most ${mostSoakMs} ms`, soak, soak <= mostSoakMs)
  return [...all, ...growthBars(results)]
}

/** Processor time of another target relative to this node. */
function spentRatio({ results }, other) {
  const [own, others] = [results.rhizome?.processorMicros, results[other]?.processorMicros]
  return own === undefined || others === undefined ? undefined : others / own
}
