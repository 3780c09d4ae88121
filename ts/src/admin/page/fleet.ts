import type { FleetReport, NodeReport } from '../shapes.ts'
import { byId, element, foreign, setText } from './element.ts'
import { count, latency } from './format.ts'
import { heading, table } from './layout.ts'

/** The nodes of the fleet. Hidden without one. */
export class FleetPart {
  readonly #summary = element('p', { class: 'muted', role: 'status' })
  readonly #body = element('tbody')

  constructor() {
    const nodes = table(['Node', 'Role', 'Version', '#Head', '#Blocks behind', '#For', 'State'], this.#body)
    byId('fleet').append(heading('Fleet', 'fleet-title'), this.#summary, nodes)
  }

  show({ fleet }: NodeReport): void {
    byId('fleet').hidden = fleet === null
    if (fleet === null) return
    setText(this.#summary, summary(fleet))
    this.#body.replaceChildren(...fleet.nodes.map(row))
  }
}

function summary({ role, failure, publishesChanges }: FleetReport): string {
  const part = `This node is ${role === 'importer' ? 'an importer' : 'a replica'}`
  const changes = publishesChanges === true ? ' and publishes the stream of changes' : ''
  return failure === null ? `${part}${changes}.` : `${part}. ${failure}; it tries again every 5 seconds.`
}

function row({ name, role, version, head, blocksBehind, behindMs, silentMs, isReady }: FleetReport['nodes'][number]) {
  const number = (text: string) => element('td', { class: 'number' }, text)
  return element(
    'tr',
    { 'data-node': name },
    element('th', { scope: 'row' }, foreign(name)),
    element('td', {}, foreign(role)),
    element('td', {}, foreign(version)),
    number(count(head)),
    number(count(blocksBehind)),
    number(behindMs === 0 ? '–' : latency(behindMs)),
    element('td', {}, stateOf(isReady, silentMs)),
  )
}

function stateOf(isReady: boolean, silentMs: number): string {
  if (isReady) return 'ready'
  return silentMs >= 2000 ? `silent for ${latency(silentMs)}` : 'behind'
}
