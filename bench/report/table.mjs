// The comparison as lines for a terminal.
import { ratio } from '../rpc/compare.mjs'

/** The fastest other node, as `{ name, ratio }` with the speed of `own` relative to it. */
export function bestOther({ results }, own = 'rhizome') {
  const others = Object.entries(results).filter(
    ([name, { rate }]) => !/^(rhizome|ceiling)/.test(name) && rate !== undefined,
  )
  const [name] = others.toSorted(([, a], [, b]) => b.rate - a.rate)[0] ?? []
  return name === undefined ? undefined : { name, ratio: ratio(results[own], results[name]) }
}

/** One line for each target of a row, below the name of the workload. */
export function lines({ name, unit = 'requests/s', isPaced, results }) {
  const width = Math.max(...Object.keys(results).map((one) => one.length))
  const texts = Object.entries(results).map(([target, one]) => {
    const head = `  ${target.padEnd(width)}`
    const reason = one.failed ?? one.notServed
    if (reason !== undefined) return `${head}  ${one.failed === undefined ? 'not served' : 'FAILED'}: ${reason}`
    const share = isPaced ? undefined : ratio(one, results.ceiling)
    const ofCeiling = share === undefined ? '' : `  ${share.toFixed(2)} of the ceiling`
    const [rate, p50, p99] = [count(one.rate), time(one.p50), time(one.p99)]
    const processor = one.processorMicros === undefined ? '' : `  processor ${time(one.processorMicros)}`
    return `${head}  ${rate.padStart(10)} ${unit}  p50 ${p50.padStart(9)}  p99 ${p99.padStart(9)}${processor}${ofCeiling}`
  })
  return [name, ...texts]
}

export function count(value) {
  return Math.round(value).toLocaleString('en')
}

/** A time in microseconds, with a suitable unit. */
export function time(micros) {
  if (micros < 1000) return `${micros < 10 ? micros.toFixed(1) : Math.round(micros)} µs`
  return micros < 1e6 ? `${(micros / 1000).toFixed(micros < 1e4 ? 1 : 0)} ms` : `${(micros / 1e6).toFixed(1)} s`
}

/** A table; all columns but the first `texts` ones are numbers. */
export function markdown(head, body, texts = 1) {
  const line = (columns) => `| ${columns.join(' | ')} |`
  return [line(head), line(head.map((_one, index) => (index < texts ? '---' : '---:'))), ...body.map(line)].join('\n')
}
