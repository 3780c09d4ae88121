import { Counter, Gauge, type Registry } from 'prom-client'
import type { SyncFigures } from './nodeFigures.ts'
import { syncProgress } from './syncProgress.ts'

/** Registers the metrics of the synchronization; returns the function that sets them. Null: no peers, all are 0. */
export function syncMetrics(registry: Registry): (figures: SyncFigures | null) => void {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `rhizome_sync_${name}`, help, labelNames, registers })
  const counter = (name: string, help: string) => new Counter({ name: `rhizome_sync_${name}_total`, help, registers })
  const active = gauge('active', 'Whether the head is more than 24 blocks behind the best header.')
  const best = gauge('best_header', 'Number of the best validated header.')
  const behind = gauge('behind_seconds', 'Seconds between the times of the head and of the best validated header.')
  const stages = gauge('stage_block', 'Block that a stage has reached: headers, bodies, execution.', ['stage'])
  const oldest = gauge('oldest_block', 'Lowest stored block above genesis while older ones are missing; 0: none is.')
  const state = gauge('state_bytes', 'Bytes of a state that is downloaded: received, total; 0 without one.', ['kind'])
  const stateRate = gauge('state_bytes_per_second', 'Received bytes of a state a second.')
  const left = gauge(
    'left_seconds',
    'Estimated time until the state is there, while one is downloaded, else until the head is the best block; 0: unknown.',
  )
  const rates = gauge('rate', 'Headers verified, bodies received, blocks imported and older blocks stored a second.', [
    'stage',
  ])
  const blocks = gauge('blocks', 'Blocks ahead of the head, by state.', ['state'])
  const peers = gauge('peers', 'Peers that are asked; "over_budget" ones take no further message in this minute.', [
    'state',
  ])
  const failed = gauge('failed', 'Whether a failure of this node stopped the synchronization.')
  const headers = counter('headers', 'Headers verified.')
  const bodies = counter('bodies', 'Bodies received.')
  const waits = counter('budget_waits', 'Times at which a peer took no further message in a minute.')
  return (figures) => {
    const of = (read: (figures: SyncFigures) => number) => (figures === null ? 0 : read(figures))
    for (const one of [headers, bodies, waits]) one.reset()
    headers.inc(of((now) => now.headers))
    bodies.inc(of((now) => now.bodies))
    waits.inc(of((now) => now.budgetWaits))
    active.set(of((now) => Number(now.isSyncing)))
    best.set(of((now) => now.bestHeader))
    behind.set(of((now) => now.secondsBehind))
    failed.set(of((now) => Number(now.failure !== null)))
    const progress = figures === null ? undefined : syncProgress(figures)
    for (const { stage, block } of progress?.stages ?? []) if (stage !== 'state') stages.set({ stage }, block)
    state.set({ kind: 'received' }, figures?.state?.bytes ?? 0)
    state.set({ kind: 'total' }, figures?.state?.totalBytes ?? 0)
    stateRate.set(figures?.state?.bytesPerSecond ?? 0)
    left.set(progress?.secondsLeft ?? 0)
    oldest.set(figures?.older?.oldest ?? 0)
    rates.set({ stage: 'older' }, figures?.older?.blocksPerSecond ?? 0)
    rates.set(
      { stage: 'headers' },
      of((now) => now.headersPerSecond),
    )
    rates.set(
      { stage: 'bodies' },
      of((now) => now.bodiesPerSecond),
    )
    rates.set(
      { stage: 'import' },
      of((now) => now.blocksPerSecond),
    )
    for (const state of ['missing', 'requested', 'ready', 'importing'] as const)
      blocks.set(
        { state },
        of((now) => now[state]),
      )
    peers.set(
      { state: 'usable' },
      of((now) => now.peers),
    )
    peers.set(
      { state: 'over_budget' },
      of((now) => now.peersOverBudget),
    )
  }
}
