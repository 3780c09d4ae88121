import { Counter, Gauge, type Registry } from 'prom-client'
import type { FleetFigures } from './nodeFigures.ts'

const logCounters = {
  published: 'Blocks that this node added to the block log.',
  refused: 'Blocks of this node that were in the log already.',
  received: 'Messages of the block log that this node read.',
  damaged: 'Messages of the block log that are not a block.',
  invalid: 'Blocks of the log that break a rule.',
  renewed: 'Block logs that were created again.',
} as const

const logGauges = {
  waiting: 'Blocks of the log that wait for their parent.',
  place: 'Sequence number up to which all messages of the block log are handled.',
  last: 'Sequence number of the last message of the block log that arrived.',
} as const

const transactionCounters = {
  sent: 'Transactions that this node sent to the others.',
  taken: 'Transactions of other nodes that the pool took.',
  rejected: 'Transactions of other nodes that the pool rejected, known ones included.',
  damaged: 'Messages that are not a transaction.',
} as const

/** Registers the metrics of a fleet; returns the function that sets them. Null: no fleet, and no metrics of one. */
export function fleetMetrics(registry: Registry): (figures: FleetFigures | null) => void {
  let show: ((figures: FleetFigures) => void) | undefined
  return (figures) => {
    if (figures === null) return
    show ??= register(registry)
    show(figures)
  }
}

function register(registry: Registry): (figures: FleetFigures) => void {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `rhizome_fleet_${name}`, help, labelNames, registers })
  const counter = (name: string, help: string) => new Counter({ name: `rhizome_fleet_${name}_total`, help, registers })
  const up = gauge('up', 'Whether the node is connected and has no failure.')
  const behind = gauge(
    'behind',
    'Whether the best head of the fleet has been missing for more than a second, or since the start.',
  )
  const latest = gauge('latest_number', 'Number of the block of the tag latest.')
  const restores = counter('restores', 'Checkpoints that this node restored because the block log has passed it by.')
  const restored = gauge('restore_bytes', 'Bytes of the checkpoint that are there, while one is restored.')
  const wanted = gauge('restore_total_bytes', 'Bytes of the checkpoint that is restored; 0 while none is.')
  const head = gauge('node_head_number', 'Number of the head of a node.', ['node', 'role', 'version'])
  const ready = gauge('node_ready', 'Whether a node has the best head, or lacks it for less than a second.', ['node'])
  const lacking = gauge('node_behind_seconds', 'Time for which a node has lacked the best head.', ['node'])
  const log = counters(logCounters, (name, help) => counter(`log_${name}`, help))
  const logs = counters(logGauges, (name, help) => gauge(`log_${name}`, help))
  const transactions = counters(transactionCounters, (name, help) => counter(`transactions_${name}`, help))
  const holder = gauge('changes_holder', 'Whether this node holds the lease of the stream of changes.')
  const sequence = gauge('changes_sequence', 'Sequence number of the last message of the stream of changes.')
  const published = counter('changes_published', 'Messages that this node added to the stream of changes.')
  return (figures) => {
    up.set(Number(figures.isConnected && figures.failure === null))
    behind.set(Number(figures.isBehind))
    latest.set(figures.latest)
    restores.reset()
    restores.inc(figures.restore.completed)
    restored.set(figures.restore.done)
    wanted.set(figures.restore.total)
    for (const [name, one] of log) {
      one.reset()
      one.inc(figures.log[name])
    }
    for (const [name, one] of logs) one.set(figures.log[name])
    for (const [name, one] of transactions) {
      one.reset()
      one.inc(figures.transactions[name])
    }
    holder.set(Number(figures.changes?.isHolder ?? false))
    sequence.set(figures.changes?.sequence ?? 0)
    published.reset()
    published.inc(figures.changes?.published ?? 0)
    head.reset()
    ready.reset()
    lacking.reset()
    for (const { name: node, role, version, number, isReady, behindMs } of figures.nodes) {
      head.set({ node, role, version }, number)
      ready.set({ node }, Number(isReady))
      lacking.set({ node }, behindMs / 1000)
    }
  }
}

function counters<K extends string, T>(
  helps: Readonly<Record<K, string>>,
  create: (name: K, help: string) => T,
): readonly (readonly [K, T])[] {
  return (Object.entries(helps) as [K, string][]).map(([name, help]) => [name, create(name, help)] as const)
}
