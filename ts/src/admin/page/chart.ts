import { element, setText } from './element.ts'

const space = 'http://www.w3.org/2000/svg'
const [width, height] = [760, 240]
/** Margins for the labels of the axes. */
const [left, right, top, bottom] = [56, 8, 10, 22]
const [plotWidth, plotHeight] = [width - left - right, height - top - bottom]
const maxTimeLabels = 6

export interface Line {
  readonly name: string
  /** One value for each step; null without a measurement. */
  readonly values: readonly (number | null)[]
}

export interface ChartData {
  readonly lines: readonly Line[]
  readonly fromSeconds: number
  readonly stepSeconds: number
  /** Formats a value, e.g. `1.2 ms`. */
  readonly write: (value: number | null) => string
  /** Text of a line in the legend while no step is selected. */
  readonly summary: (line: Line) => string
}

/** Lines over time with labelled axes. The legend shows the step under the pointer, or selected with the arrow keys. */
export class Chart {
  readonly root: HTMLElement
  readonly #svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', tabindex: '0', role: 'img' })
  readonly #plot = shape('g', {})
  readonly #hover = shape('line', {
    class: 'hover',
    y1: String(top),
    y2: String(top + plotHeight),
    visibility: 'hidden',
  })
  readonly #moment = element('p', { class: 'muted moment', role: 'status' })
  readonly #legend = element('ul', { class: 'legend' })
  #data: ChartData | undefined
  #step: number | undefined

  constructor() {
    this.#svg.append(this.#plot, this.#hover)
    this.#svg.addEventListener('pointermove', (event) => this.#pointAt(this.#stepAt(event)))
    this.#svg.addEventListener('pointerleave', () => this.#pointAt(undefined))
    this.#svg.addEventListener('blur', () => this.#pointAt(undefined))
    this.#svg.addEventListener('keydown', (event) => this.#onKey(event))
    this.root = element(
      'div',
      { class: 'chart-row' },
      this.#svg,
      element('div', { class: 'reading' }, this.#moment, this.#legend),
    )
  }

  show(data: ChartData): void {
    this.#data = data
    const { lines } = data
    const highest = niceCeiling(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))))
    this.#svg.setAttribute(
      'aria-label',
      `${lines.map(({ name }) => name).join(', ')} over time; arrow keys read the values`,
    )
    this.#plot.replaceChildren(
      ...valueAxis(highest, data.write),
      ...timeAxis(data),
      ...lines.map(({ values }, index) => shape('path', { class: `line line-${index}`, d: pathOf(values, highest) })),
    )
    this.#read()
  }

  #stepAt(event: PointerEvent): number | undefined {
    const count = this.#count()
    const { left: begin, width: drawn } = this.#svg.getBoundingClientRect()
    const x = ((event.clientX - begin) / drawn) * width - left
    const step = Math.round((x / plotWidth) * (count - 1))
    return step < 0 || step >= count ? undefined : step
  }

  #onKey(event: KeyboardEvent): void {
    const moves: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }
    const move = moves[event.key]
    const count = this.#count()
    if (move === undefined || count === 0) return
    event.preventDefault()
    this.#pointAt(Math.min(count - 1, Math.max(0, (this.#step ?? count - 1) + move)))
  }

  #pointAt(step: number | undefined): void {
    this.#step = step
    this.#read()
  }

  #count(): number {
    return this.#data?.lines[0]?.values.length ?? 0
  }

  /** Moves the hover line and writes the legend. */
  #read(): void {
    const data = this.#data
    if (data === undefined) return
    const count = this.#count()
    const step = this.#step === undefined || this.#step >= count ? undefined : this.#step
    this.#hover.setAttribute('visibility', step === undefined ? 'hidden' : 'visible')
    if (step !== undefined) {
      const x = String(xOf(step, count))
      this.#hover.setAttribute('x1', x)
      this.#hover.setAttribute('x2', x)
    }
    setText(this.#moment, step === undefined ? 'Point at the chart to read its values.' : spanOf(data, step))
    this.#legend.replaceChildren(
      ...data.lines.map((line, index) =>
        element(
          'li',
          { 'data-line': line.name },
          element('span', { class: `key key-${index}` }),
          element('span', { class: 'code' }, line.name),
          element(
            'span',
            { class: 'number' },
            step === undefined ? data.summary(line) : data.write(line.values[step] ?? null),
          ),
        ),
      ),
    )
  }
}

function shape<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
  text = '',
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(space, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  if (text !== '') made.textContent = text
  return made
}

/** Returns the least number of the form 1, 2 or 5 times a power of ten that is not below a value. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((one) => one * power >= value) ?? 10)
}

function valueAxis(highest: number, write: ChartData['write']): SVGElement[] {
  return [0, 0.5, 1].flatMap((part) => {
    const y = String(yOf(part * highest, highest))
    return [
      shape('line', { class: 'grid', x1: String(left), x2: String(width - right), y1: y, y2: y }),
      shape(
        'text',
        { class: 'axis', x: String(left - 6), y, 'text-anchor': 'end', dy: '0.32em' },
        write(part * highest),
      ),
    ]
  })
}

function timeAxis({ lines, fromSeconds, stepSeconds }: ChartData): SVGElement[] {
  const count = lines[0]?.values.length ?? 0
  const every = Math.ceil(count / maxTimeLabels)
  const steps = Array.from({ length: count }, (_none, step) => step).filter((step) => (count - 1 - step) % every === 0)
  return steps.map((step) => {
    const anchor = step === count - 1 ? 'end' : step === 0 ? 'start' : 'middle'
    const at = { x: String(xOf(step, count)), y: String(height - 6), 'text-anchor': anchor }
    return shape('text', { class: 'axis', ...at }, timeOf(fromSeconds + step * stepSeconds, count * stepSeconds))
  })
}

function timeOf(seconds: number, spanSeconds: number): string {
  const isLong = spanSeconds > 172_800
  const form: Intl.DateTimeFormatOptions = isLong
    ? { month: 'short', day: 'numeric' }
    : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
  return new Intl.DateTimeFormat('en', form).format(new Date(seconds * 1000))
}

/** Formats start and end of a step in the time zone of the browser. */
function spanOf({ fromSeconds, stepSeconds }: ChartData, step: number): string {
  const form = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
  const begin = new Date((fromSeconds + step * stepSeconds) * 1000)
  return form.formatRange(begin, new Date(begin.getTime() + stepSeconds * 1000))
}

function xOf(step: number, count: number): number {
  return left + (plotWidth * step) / Math.max(1, count - 1)
}

function yOf(value: number, highest: number): number {
  return top + plotHeight * (1 - value / highest)
}

/** Returns the path of a line. Missing values interrupt it; a value between two missing values is a short dash. */
function pathOf(values: readonly (number | null)[], highest: number): string {
  return values
    .map((value, step) => {
      if (value === null) return ''
      const [x, y] = [xOf(step, values.length), yOf(value, highest)]
      const isJoined = step > 0 && values[step - 1] !== null
      const isAlone = !isJoined && (values[step + 1] ?? null) === null
      return `${isJoined ? 'L' : 'M'}${isAlone ? x - 2 : x} ${y}${isAlone ? 'h4' : ''}`
    })
    .join('')
}
