// Writes docs/benchmarks.md: introduction, tables and plots.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ratio } from '../rpc/compare.mjs'
import { bars } from './bars.mjs'
import { fairnessTable } from './fairness.mjs'
import { growthTable } from './growth.mjs'
import { barChart } from './plot.mjs'
import { bestOther, count, markdown, time } from './table.mjs'

const introduction = new URL('./introduction.md', import.meta.url)
const findings = new URL('./findings.md', import.meta.url)
const profilesNote = new URL('./profiles.md', import.meta.url)
/** Benchmarks with separate sections. */
const withTable = new Set(['growth', 'fairness'])
/** Smaller times are not shown. */
const leastMicros = 0.05

/** Writes a Markdown file, and its plots into a folder of the same name beside it. */
export function writeReport(file, measured) {
  const { machine, comparison, results } = measured
  const { rows } = comparison
  const folder = file.replace(/\.md$/, '')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const plots = plotsOf(rows).map(({ name, svg, alt }) => {
    writeFileSync(join(folder, name), svg)
    return `![${alt}](${basename(folder)}/${name})`
  })
  const parts = [
    readFileSync(introduction, 'utf8').trim(),
    machineText(machine, comparison),
    '## Requests',
    speedTable(rows),
    ...plots,
    '## Latency',
    timeTable(rows),
    '## Bars',
    barTable(bars(measured)),
    readFileSync(findings, 'utf8').trim(),
    profileText(rows),
    growthTable(results),
    fairnessTable(results),
    ownTable(results.filter(({ benchmark }) => !withTable.has(benchmark))),
    absentText(rows, comparison.absent),
  ]
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${parts.filter((part) => part !== '').join('\n\n')}\n`)
}

function targetsOf(rows) {
  return [...new Set(rows.flatMap(({ results }) => Object.keys(results)))].toSorted((a, b) => place(a) - place(b))
}

function place(name) {
  const order = ['rhizome', 'ceiling', 'rhizome-1', 'anvil', 'geth'].indexOf(name)
  return order === -1 ? 99 : order
}

function machineText(machine, { pace, facts = [] }) {
  const memory = facts.map(({ name, startMs, memoryKib }) => {
    const start = startMs === undefined ? '' : `${Math.round(startMs)} ms`
    return `| ${name} | ${start} | ${memoryKib === null || Number.isNaN(memoryKib) ? '' : count(memoryKib / 1024)} |`
  })
  const text = `Measured on ${machine.at.slice(0, 10)} with Rhizome ${machine.rhizome} on ${machine.processors} processors (${machine.model}), ${machine.memoryGib} GiB of memory, ${machine.system}, Node.js ${machine.node}.`
  if (pace === undefined) return text
  const spoken = `${text} ${pace.rounds} rounds of ${pace.timeMs} ms for each workload and target, ${pace.connections} connections.`
  if (memory.length === 0) return spoken
  const table = ['| | first answer after | MiB at the end |', '| --- | ---: | ---: |', ...memory].join('\n')
  return `${spoken}\n\n${table}`
}

function speedTable(rows) {
  const targets = targetsOf(rows)
  const head = ['workload', ...targets, 'of the ceiling', 'best other']
  const body = rows
    .filter(({ isPaced }) => !isPaced)
    .map((row) => {
      const { results } = row
      const share = ratio(results.rhizome, results.ceiling)
      const best = bestOther(row)
      return [
        row.unit === undefined ? row.name : `${row.name} (${row.unit})`,
        ...targets.map((name) => rateText(results[name])),
        share === undefined ? '' : share.toFixed(2),
        best?.ratio === undefined ? '' : `${best.ratio.toFixed(1)} x ${best.name}`,
      ]
    })
  const note =
    'Requests per second; for batches, calls per second. The last columns are medians of the ratios round by round.'
  return `${note}\n\n${markdown(head, body)}`
}

function rateText(one) {
  if (one === undefined) return ''
  if (one.failed !== undefined) return 'failed'
  return one.notServed === undefined ? count(one.rate) : 'not served'
}

function timeTable(rows) {
  const targets = targetsOf(rows)
  const shown = (one) => (one?.rate === undefined ? '' : `${time(one.p50)} / ${time(one.p99)}`)
  const body = rows.map(({ name, results }) => [name, ...targets.map((target) => shown(results[target]))])
  const spent = ({ processorMicros }) => (processorMicros === undefined ? '' : time(processorMicros))
  const processor = rows
    .filter(({ isPaced }) => !isPaced)
    .map(({ name, results }) => [name, ...targets.map((target) => spent(results[target] ?? {}))])
  return [
    'Median and 99th percentile:',
    markdown(['workload', ...targets], body),
    'Processor time of the server for one request (for batches, one call). It depends least on other load of the machine:',
    markdown(['workload', ...targets], processor),
  ].join('\n\n')
}

function barTable(all) {
  const body = all.map(({ name, wanted, got, processor, isMet }) => [
    name,
    wanted,
    got,
    processor,
    isMet ? 'yes' : 'no',
  ])
  return markdown(['workload', 'bar', 'measured', 'by processor time', 'met'], body)
}

/** For each profiled workload: processor time of a request by part, and the most expensive functions. */
function profileText(rows) {
  const tables = rows
    .filter(({ profiles }) => profiles !== undefined)
    .map(({ name, profiles }) => {
      const targets = targetsOf([{ results: profiles }])
      const parts = new Set(targets.flatMap((target) => profiles[target].parts.map((part) => part.name)))
      const micros = (part, target) => {
        const share = profiles[target].parts.find((one) => one.name === part)?.share ?? 0
        const spent = share * profiles[target].processorMicros
        return spent >= leastMicros ? spent.toFixed(spent < 10 ? 2 : 0) : ''
      }
      const body = [...parts]
        .map((part) => [part, ...targets.map((target) => micros(part, target))])
        .filter(([, ...values]) => values.some((value) => value !== ''))
      const functions = profiles.rhizome?.functions ?? []
      const expensive = functions.map((one) => `\`${one.name}\` ${(one.share * 100).toFixed(1)} %`).join(', ')
      return `### ${name}\n\n${markdown(['µs of a request', ...targets], body)}\n\nMost expensive functions of this node: ${expensive}.`
    })
  if (tables.length === 0) return ''
  const note = readFileSync(profilesNote, 'utf8').trim()
  return [note, ...tables].join('\n\n')
}

function ownTable(results) {
  if (results.length === 0) return ''
  const body = results.map(({ benchmark, name, value, unit }) => [
    benchmark,
    name,
    Math.abs(value) < 100 ? value.toFixed(2) : count(value),
    unit.replaceAll('|', ' '),
  ])
  return `## This node alone\n\n${markdown(['benchmark', 'figure', 'value', ''], body, 2)}`
}

function absentText(rows, absent = {}) {
  const reasons = new Map()
  for (const { name, results } of rows)
    for (const [target, one] of Object.entries(results)) {
      const reason = one.failed ?? one.notServed
      if (reason !== undefined) reasons.set(`${target}, ${name}`, reason.replaceAll(/\s+/g, ' ').slice(0, 240))
    }
  for (const [target, reason] of Object.entries(absent)) reasons.set(target, `left out: ${reason}`)
  if (reasons.size === 0) return ''
  return `## Not measured\n\n${[...reasons].map(([target, reason]) => `* ${target}: ${reason}`).join('\n')}`
}

function plotsOf(rows) {
  const speeds = rows
    .filter(({ isPaced }) => !isPaced)
    .map(({ name, results }) => ({ label: name, bars: barsOf(results, ({ rate }) => rate, count) }))
  const times = rows.map(({ name, results }) => ({ label: name, bars: barsOf(results, ({ p99 }) => p99, time) }))
  const charts = [
    { name: 'speed.svg', title: 'Speed', unit: 'answers per second, logarithmic: longer is better', groups: speeds },
    { name: 'time.svg', title: 'Slowest of 100', unit: 'logarithmic: shorter is better', groups: times },
  ]
  return charts
    .map((chart) => ({ ...chart, groups: chart.groups.filter(({ bars: found }) => found.length > 0) }))
    .filter(({ groups }) => groups.length > 0)
    .map((chart) => ({ name: chart.name, alt: `${chart.title}: ${chart.unit}`, svg: barChart(chart) }))
}

function barsOf(results, read, write) {
  return Object.keys(results)
    .filter((name) => name !== 'rhizome-1' && results[name].rate !== undefined)
    .toSorted((a, b) => place(a) - place(b))
    .map((name) => ({ name, value: Math.max(read(results[name]), 0.1), text: write(read(results[name])) }))
}
