import type { FigureReport, ListedApp, MethodCurve, RangeName } from '../shapes.ts'
import { figures } from './api.ts'
import { Chart, type Line } from './chart.ts'
import { byId, element, setText } from './element.ts'
import { count, latency } from './format.ts'
import { heading } from './layout.ts'

const rangeWords: readonly (readonly [RangeName, string])[] = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['month', 'Month'],
]
const measures = {
  requests: 'Requests',
  errors: 'Errors',
  p50Ms: 'Latency, median',
  p99Ms: 'Latency, p99',
} as const
type Measure = keyof typeof measures

/** Limit of lines besides the line of all methods. */
const maxLines = 6
const pollMs = 10_000

/** Requests, errors and latencies by method over an hour, a day or a month, of the node or of one app. */
export class OverTime {
  readonly #chart = new Chart()
  readonly #subject = element('select', { 'aria-label': 'Node or app', change: () => void this.#ask() })
  readonly #measure = element('select', { 'aria-label': 'Figure', change: () => this.#draw() })
  readonly #ranges = rangeWords.map(([name, words]) =>
    element(
      'button',
      { type: 'button', 'aria-pressed': String(name === 'hour'), click: () => this.#choose(name) },
      words,
    ),
  )
  readonly #note = element('p', { class: 'muted', role: 'status' })
  #range: RangeName = 'hour'
  #report: FigureReport | undefined
  #askedMs = Number.NEGATIVE_INFINITY

  constructor() {
    this.#measure.append(...Object.entries(measures).map(([value, words]) => element('option', { value }, words)))
    this.#subject.append(element('option', { value: '' }, 'Node'))
    const choice = element('div', { class: 'ranges', role: 'group', 'aria-label': 'Range' }, ...this.#ranges)
    byId('over-time').append(
      heading('Over time', 'over-time-title', this.#subject, this.#measure, choice),
      this.#note,
      this.#chart.root,
    )
  }

  /** Updates the list of apps, and fetches the figures again if they may have changed. */
  async show(apps: readonly ListedApp[] | string): Promise<void> {
    if (typeof apps !== 'string') this.#list(apps.map(({ name }) => name))
    if (performance.now() - this.#askedMs >= pollMs) await this.#ask()
  }

  #list(names: readonly string[]): void {
    const shown = [...this.#subject.options].slice(1).map(({ value }) => value)
    if (shown.join(' ') === names.join(' ')) return
    const chosen = this.#subject.value
    this.#subject.replaceChildren(
      element('option', { value: '' }, 'Node'),
      ...names.map((name) => element('option', { value: name }, name)),
    )
    this.#subject.value = names.includes(chosen) ? chosen : ''
  }

  #choose(range: RangeName): void {
    this.#range = range
    for (const [index, button] of this.#ranges.entries()) {
      button.setAttribute('aria-pressed', String(rangeWords[index]?.[0] === range))
    }
    void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#askedMs = performance.now()
    const [range, app] = [this.#range, this.#subject.value]
    try {
      const report = await figures(range, app)
      // The selection has changed during the request.
      if (range !== this.#range || app !== this.#subject.value) return
      this.#report = report
      this.#draw()
    } catch (error) {
      setText(this.#note, `The figures are unavailable: ${(error as Error).message}`)
      this.#note.hidden = false
    }
  }

  #draw(): void {
    const report = this.#report
    if (report === undefined) return
    const measure = this.#measure.value as Measure
    const isLatency = measure === 'p50Ms' || measure === 'p99Ms'
    const methods = report.methods.filter((curve) => curve[measure].some((value) => value !== null && value > 0))
    const lines = methods.slice(0, maxLines + 1).map((curve): Line => ({ name: curve.method, values: curve[measure] }))
    const more = methods.length - lines.length
    const nothing =
      isLatency && this.#subject.value !== ''
        ? 'Latencies are measured for the node only.'
        : 'No requests in this range.'
    setText(this.#note, lines.length === 0 ? nothing : more > 0 ? `and ${count(more)} more methods, used less` : '')
    this.#note.hidden = this.#note.textContent === ''
    this.#chart.root.hidden = lines.length === 0
    this.#chart.show({
      lines,
      fromSeconds: report.fromSeconds,
      stepSeconds: report.stepSeconds,
      write: (value) => (isLatency ? latency(value) : count(value ?? 0)),
      summary: ({ name, values }) => (isLatency ? latency(highest(values)) : total(report.methods, name, measure)),
    })
  }
}

function total(methods: readonly MethodCurve[], name: string, measure: 'requests' | 'errors'): string {
  const values = methods.find(({ method }) => method === name)?.[measure] ?? []
  return count(values.reduce((sum, value) => sum + value, 0))
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}
