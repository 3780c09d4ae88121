// Part of the report about a growing state: its table and its bars.
import { readFileSync } from 'node:fs'
import { count, markdown } from './table.mjs'

const note = new URL('./growth.md', import.meta.url)
/** Figures of the build that the bars were set for: by name, `{ unit, values }` with one value for each size. */
const before = JSON.parse(readFileSync(new URL('../growth/baseline.json', import.meta.url), 'utf8'))
const mostOfSmallState = 1.4
const mostOfAmpleMemory = 2
/** The most at 5 M entries. */
const limits = {
  'read by the foreground for a new entry, so far': 6144,
  'eth_getProof, 5,000 blocks back, warm, median': 2,
  'mainnet-like block, warm, time': 0.9,
  'mainnet-like block, dropped page cache, time': 1.5,
  'balance, old block, warm, median': 0.2,
  'slot, old block, warm, median': 0.2,
  'call of 100 slots, old block, warm, median': 3,
  'rewind of 1000 blocks': 2,
  'start after a clean stop, median': 0.5,
  'start after kill -9 during an import': 1.5,
  'verify of the last 10 blocks': 2,
}
const block = 'block of 818 new entries'
const imported = 'import of the last 1000 blocks with'
const [small, large] = ['0.2 M', '5 M']

/** Figures of all sizes: for each, a column of the build before and one of this build. */
export function growthTable(results) {
  const figures = results.filter(({ benchmark }) => benchmark === 'growth')
  if (figures.length === 0) return ''
  const sizes = [...new Set(figures.map(({ size }) => size))]
  const units = new Map(Object.entries(before.figures).map(([name, { unit }]) => [name, unit]))
  for (const { figure, unit } of figures) if (!unit.startsWith('failed')) units.set(figure, unit)
  const body = [...units].map(([name, unit]) => {
    const columns = sizes.flatMap((size) => [before.figures[name]?.values[size], shownOf(figures, name, size)])
    return [name, unit, ...columns.map(text)]
  })
  const head = ['figure', 'unit', ...sizes.flatMap((size) => [`${size}, before`, size])]
  const origin = `"Before" is commit ${before.commit}, measured on ${before.at}.`
  return [readFileSync(note, 'utf8').trim(), origin, markdown(head, body, 2)].join('\n\n')
}

/** Bars of the state with 5 M entries, if it was measured. */
export function growthBars(results) {
  const figures = results.filter(({ benchmark }) => benchmark === 'growth')
  const all = []
  const add = (name, most, value, wanted) => {
    if (value === undefined || Number.isNaN(value)) return
    all.push({ name: `${large}: ${name}`, wanted, got: text(value), processor: '', isMet: value > 0 && value <= most })
  }
  const [least, most] = [small, large].map((size) => processorOf(figures, size))
  add(`${block}, processor time`, mostOfSmallState, most / least, `at most ${mostOfSmallState} x that of ${small}`)
  for (const [name, limit] of Object.entries(limits)) {
    const unit = figures.find(({ figure }) => figure === name)?.unit
    add(name, limit, figureOf(figures, name, large), `at most ${limit} ${unit}`)
  }
  const [ample, scarce] = [4096, 512].map((megabytes) => figureOf(figures, `${imported} ${megabytes} MB`, large))
  add(`${imported} 512 MB`, mostOfAmpleMemory, scarce / ample, `at most ${mostOfAmpleMemory} x the time with 4096 MB`)
  return all
}

function processorOf(figures, size) {
  const [front, back] = ['foreground', 'background'].map((where) =>
    figureOf(figures, `${block}, ${where} processor time`, size),
  )
  return front + back
}

function figureOf(figures, name, size) {
  return figures.find((one) => one.figure === name && one.size === size)?.value
}

/** A value for the table: `failed` if it could not be measured. */
function shownOf(figures, name, size) {
  const one = figures.find(({ figure, size: at }) => figure === name && at === size)
  return one?.unit.startsWith('failed') ? 'failed' : one?.value
}

function text(value) {
  if (value === undefined || typeof value === 'string') return value ?? ''
  return Math.abs(value) < 100 ? value.toFixed(2) : count(value)
}
