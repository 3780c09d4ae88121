import { median } from '../rpc/compare.mjs'

/**
 * Compares two builds round by round. Each has `rates`, or for paced workloads `p50s`, and `processors`: processor time of one
 * request, NaN if the system does not report it. Returns the median ratio, the quartiles and the median ratio of processor time.
 */
export function pairOf(own, other, isPaced) {
  const ratios = isPaced ? divided(other.p50s, own.p50s) : divided(own.rates, other.rates)
  const sorted = ratios.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)]
  const processor = median(divided(other.processors, own.processors))
  return {
    ratio: median(ratios),
    low: at(0.25),
    high: at(0.75),
    processor: Number.isNaN(processor) ? undefined : processor,
  }
}

/** One line of the report. */
export function pairLine({ name, ratio, low, high, processor, isSlower }) {
  const times = (value) => `${value.toFixed(3)} x`
  const spread = `(${low.toFixed(3)} to ${high.toFixed(3)})`
  const time = processor === undefined ? '' : `, processor time ${times(1 / processor)}`
  return `${name.padEnd(44)} speed ${times(ratio)} ${spread}${time}${isSlower ? '   SLOWER' : ''}`
}

function divided(values, others) {
  return values.map((value, round) => value / others[round])
}
