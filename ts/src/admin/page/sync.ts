import type { NodeReport, SyncProgress } from '../shapes.ts'
import { byId, element, setText } from './element.ts'
import { bytes, count, rate, span } from './format.ts'
import { heading, table } from './layout.ts'

const words = { headers: 'Headers', state: 'State', bodies: 'Bodies', execution: 'Execution' } as const

/** Stages of a running synchronization, and older blocks that are missing. Hidden while the node is synchronized and has all. */
export class SyncPart {
  readonly #summary = element('p', { class: 'muted', role: 'status' })
  readonly #older = element('p', { class: 'muted', 'data-older': '' })
  readonly #rows = new Map<SyncProgress['stages'][number]['stage'], ReturnType<typeof newRow>>()
  readonly #body = element('tbody')

  constructor() {
    const stages = table(['Stage', '#Block', '#of', 'Progress', '#Per second'], this.#body)
    byId('sync').append(heading('Synchronization', 'sync-title'), this.#summary, this.#older, stages)
  }

  show({ sync }: NodeReport): void {
    const isShown = sync !== null && (sync.isSyncing || sync.failure !== null || sync.older !== null)
    byId('sync').hidden = !isShown
    if (!isShown) return
    const isSynchronized = !sync.isSyncing && sync.failure === null
    setText(this.#summary, isSynchronized ? 'The head is the best block.' : summary(sync))
    this.#older.hidden = sync.older === null
    if (sync.older !== null) setText(this.#older, olderText(sync.older))
    const rows = sync.stages.map((stage) => {
      const row = this.#rows.get(stage.stage) ?? newRow(stage.stage)
      this.#rows.set(stage.stage, row)
      row.show(stage)
      return row.root
    })
    // A state is a stage only while it is downloaded.
    if (rows.length !== this.#body.childElementCount) this.#body.replaceChildren(...rows)
  }
}

function summary({ peers, peersOverBudget, secondsBehind, secondsLeft, failure }: SyncProgress): string {
  if (failure !== null) return `Stopped: ${failure}. The node tries again every 15 seconds.`
  const asked = `${count(peers)} peers${peersOverBudget > 0 ? `, ${count(peersOverBudget)} of them at their limit` : ''}`
  const left = secondsLeft === null ? 'time left unknown' : `about ${span(secondsLeft)} left`
  return `${asked} · ${span(secondsBehind)} behind the best header · ${left}`
}

function olderText({ oldest, perSecond, secondsLeft }: NonNullable<SyncProgress['older']>): string {
  const left = secondsLeft === null ? 'time left unknown' : `about ${span(secondsLeft)} left`
  return `Older blocks: stored down to block ${count(oldest)} · ${rate(perSecond)} a second · ${left}`
}

function newRow(stage: SyncProgress['stages'][number]['stage']) {
  const cell = () => element('td', { class: 'number' })
  const [block, target, perSecond] = [cell(), cell(), cell()]
  const bar = element('progress', { 'aria-label': words[stage] })
  const name = element('th', { scope: 'row' }, words[stage])
  const root = element('tr', { 'data-stage': stage }, name, block, target, element('td', {}, bar), perSecond)
  return {
    root,
    show(now: SyncProgress['stages'][number]): void {
      const isState = now.stage === 'state'
      setText(block, isState ? bytes(now.block) : count(now.block))
      setText(target, isState ? bytes(now.target) : count(now.target))
      setText(perSecond, isState ? bytes(now.perSecond) : rate(now.perSecond))
      bar.max = Math.max(1, now.target)
      bar.value = now.block
    },
  }
}
