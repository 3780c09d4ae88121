// Part of the report about callers that slow down others.
import { readFileSync } from 'node:fs'
import { markdown } from './table.mjs'

const note = new URL('./fairness.md', import.meta.url)

/** One row for each case: the longest step of a worker and the latency of another caller, in ms. */
export function fairnessTable(results) {
  const cases = results.filter(({ benchmark }) => benchmark === 'fairness')
  if (cases.length === 0) return ''
  const body = cases.map(({ name, value, delayMs, p50Ms, p99Ms, longestMs, attacks }) => [
    name,
    ...[value, delayMs, p50Ms, p99Ms, longestMs].map((ms) => ms.toFixed(1)),
    attacks === undefined ? '' : String(attacks),
  ])
  const head = ['case', 'step, processor', 'delay', 'caller: 50 %', '99 %', 'longest', 'answers to the attackers']
  return `${readFileSync(note, 'utf8').trim()}\n\n${markdown(head, body)}`
}
