import type { NodeReport } from '../shapes.ts'
import { Curve } from './curve.ts'
import { byId, element, setText } from './element.ts'
import { bytes, count, latency, rate, share, shortHash, span } from './format.ts'

interface TileContent {
  readonly value: string
  readonly unit?: string
  readonly more: string
  readonly curve?: readonly number[]
}

const tiles: Readonly<Record<string, (report: NodeReport) => TileContent>> = {
  Head: ({ health: { head } }) =>
    head === null
      ? { value: '–', more: 'the chain is not open' }
      : { value: count(head.number), more: `${span(head.ageSeconds)} old · ${shortHash(head.hash)}` },
  Import: ({ blocks, health: { lagBlocks }, pool }) => ({
    value: rate(blocks.perSecond),
    unit: 'blocks/s',
    more: `${lagBlocks === null || lagBlocks === 0 ? 'up to date' : `${count(lagBlocks)} blocks behind`} · ${count((pool?.pending ?? 0) + (pool?.queued ?? 0))} transactions wait`,
    curve: blocks.curve,
  }),
  Requests: ({ requests }) => ({
    value: rate(requests.perSecond),
    unit: '/s',
    more: `${count(requests.count)} since the start`,
    curve: requests.curve,
  }),
  Latency: ({ requests }) => ({
    value: latency(requests.p50Ms),
    unit: 'p50',
    more: `p99 ${latency(requests.p99Ms)}, last 5 minutes`,
  }),
  Errors: ({ errors, requests }) => ({
    value: rate(errors.reduce((sum, { perSecond }) => sum + perSecond, 0)),
    unit: '/s',
    more: `${count(requests.errors)} since the start, ${share(requests.errors, requests.count)}`,
  }),
  Queue: ({ lanes }) =>
    lanes === null
      ? { value: '–', more: '' }
      : {
          value: count(lanes.pool.waiting + lanes.send.waiting + lanes.trace.waiting),
          unit: 'waiting',
          more: `calls ${lanes.pool.running}/${lanes.pool.threads}, traces ${lanes.trace.running}/${lanes.trace.threads} busy · ${count(lanes.pool.refused + lanes.send.refused + lanes.trace.refused)} refused`,
        },
  Memory: ({ memory, database }) => ({
    value: bytes(memory.residentBytes),
    more: `caches ${bytes(memory.cacheBytes + memory.writeBufferBytes)} · database ${bytes(database?.fileBytes ?? 0)} on disk`,
  }),
  Connections: ({ connections: { http, webSocket, subscriptions, filters } }) => ({
    value: count(http + webSocket),
    more: `${count(webSocket)} WebSocket · ${count(subscriptions)} subscriptions · ${filters === null ? 'unknown' : count(filters)} filters`,
  }),
}

/** Tiles with the main figures of the node. */
export class Overview {
  readonly #updates: readonly ((report: NodeReport) => void)[]

  constructor() {
    this.#updates = Object.entries(tiles).map(([title, read]) => {
      const [value, unit, more, curve] = [
        element('span', { class: 'value' }),
        element('span', { class: 'unit' }),
        element('p', { class: 'more' }),
        new Curve(),
      ]
      const figure = element('p', { class: 'figure' }, value, ' ', unit)
      const tile = element('div', { class: 'tile' }, element('h3', {}, title), figure, more)
      byId('tiles').append(tile)
      return (report) => {
        const shown = read(report)
        setText(value, shown.value)
        setText(unit, shown.unit ?? '')
        setText(more, shown.more)
        if (shown.curve === undefined) return
        if (!curve.svg.isConnected) figure.after(curve.svg)
        curve.show(shown.curve)
      }
    })
  }

  show(report: NodeReport): void {
    for (const update of this.#updates) update(report)
    const { ready, reasons } = report.health
    setText(byId('network'), report.network)
    const pill = byId('ready')
    setText(pill, ready ? 'Ready' : 'Not ready')
    pill.className = ready ? 'pill good' : 'pill warn'
    setText(byId('about'), `${report.version} · ${report.workers} workers · up ${span(report.upSeconds)}`)
    document.title = `${ready ? '' : '⚠ '}Rhizome ${report.network}`
    const panel = byId('reasons')
    panel.hidden = reasons.length === 0
    const text = reasons.join('\n')
    if (panel.dataset.shown === text) return
    panel.dataset.shown = text
    panel.replaceChildren('The node is not ready: ', ...reasons.map((reason) => element('p', {}, reason)))
  }
}
