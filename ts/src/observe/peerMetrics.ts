import { Counter, Gauge, type Registry } from 'prom-client'
import type { Direction, NetworkFigures } from './nodeFigures.ts'

const directions: readonly Direction[] = ['in', 'out']

/** Registers the metrics of the connections to other nodes; returns the function that sets them. Null: no peers. */
export function peerMetrics(registry: Registry): (figures: NetworkFigures | null) => void {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `rhizome_p2p_${name}`, help, labelNames, registers })
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `rhizome_p2p_${name}_total`, help, labelNames, registers })
  const peers = gauge('peers', 'Peers, "in" for those that dialled this node.', ['direction'])
  const stalled = gauge('head_stalled', 'Whether the head has not moved for ten minutes while peers are connected.')
  const known = gauge('known_nodes', 'Nodes that may be dialled.')
  const banned = gauge('banned', 'Bans of the operator in force.')
  const messages = counter('messages', 'Messages of peers, by type.', ['type', 'direction'])
  const bytes = counter('bytes', 'Bytes of these messages, without frames.', ['type', 'direction'])
  const queued = gauge('queue_messages', 'Messages that are not handled ("in") or wait to be sent ("out").', [
    'direction',
  ])
  const queuedBytes = gauge('queue_bytes', 'Bytes of these messages.', ['direction'])
  const bans = counter('bans', 'Bans and punishments, by reason.', ['reason'])
  const closed = counter('closed', 'Closed connections, and failed attempts to dial, by reason.', ['reason'])
  return (figures) => {
    for (const one of [messages, bytes, bans, closed]) one.reset()
    stalled.set(Number((figures?.stalledSeconds ?? null) !== null))
    known.set(figures?.knownNodes ?? 0)
    banned.set(figures?.banned ?? 0)
    for (const direction of directions) {
      peers.set({ direction }, figures?.peers[direction] ?? 0)
      queued.set({ direction }, figures?.queues[direction].messages ?? 0)
      queuedBytes.set({ direction }, figures?.queues[direction].bytes ?? 0)
      for (const [type, count] of Object.entries(figures?.messages[direction] ?? {})) {
        messages.inc({ type, direction }, count.messages)
        bytes.inc({ type, direction }, count.bytes)
      }
    }
    for (const [reason, count] of Object.entries(figures?.bans ?? {})) bans.inc({ reason }, count)
    for (const [reason, count] of Object.entries(figures?.closed ?? {})) closed.inc({ reason }, count)
  }
}
