const space = 'http://www.w3.org/2000/svg'
const width = 120
const height = 28

/** A small curve whose axis starts at 0, so that small values look small. */
export class Curve {
  readonly svg: SVGSVGElement = document.createElementNS(space, 'svg')
  readonly #area = document.createElementNS(space, 'path')
  readonly #line = document.createElementNS(space, 'path')
  readonly #ground = document.createElementNS(space, 'path')

  constructor() {
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.svg.setAttribute('preserveAspectRatio', 'none')
    this.svg.setAttribute('class', 'curve')
    // The number next to it has the same information.
    this.svg.setAttribute('aria-hidden', 'true')
    this.#area.setAttribute('class', 'area')
    this.#line.setAttribute('class', 'line')
    this.#ground.setAttribute('class', 'ground')
    this.#ground.setAttribute('d', `M0 ${height - 1.5}H${width}`)
    this.svg.append(this.#ground, this.#area, this.#line)
  }

  /** Shows values, the most recent at the right edge. `capacity` values fill the width. */
  show(values: readonly number[], capacity = 60): void {
    const highest = Math.max(...values, 0)
    const [only = 0] = values
    const shown = values.length < 2 ? [only, only] : values
    const step = width / Math.max(capacity - 1, shown.length - 1)
    const left = width - step * (shown.length - 1)
    const points = shown.map((value, index) => {
      const share = highest === 0 ? 0 : value / highest
      return `${(left + index * step).toFixed(1)} ${(height - 1.5 - share * (height - 4)).toFixed(1)}`
    })
    const line = `M${points.join('L')}`
    this.#line.setAttribute('d', line)
    this.#area.setAttribute('d', `${line}L${width} ${height}L${left.toFixed(1)} ${height}Z`)
  }
}
