import type { WriteStream } from 'node:tty'
import type { SyncFigures } from '../observe/nodeFigures.ts'
import { syncProgress } from '../observe/syncProgress.ts'
import { duration } from './progressBar.ts'

const redrawMs = 1000

/**
 * Shows the stages of a running synchronization in one line of a terminal, one line at its end, and then how far older blocks are
 * stored while some are missing. Prints nothing if the output
 * is not a terminal: the log has the same figures. Returns a function that ends it.
 */
export function showSync(
  figures: () => SyncFigures | null | undefined,
  out: Pick<WriteStream, 'write' | 'isTTY'>,
): () => void {
  if (!out.isTTY) return () => undefined
  let isShown = false
  let wasSyncing = false
  const clear = (): void => {
    if (isShown) out.write('\r\x1b[K')
    isShown = false
  }
  const timer = setInterval(() => {
    const now = figures()
    clear()
    if (now === null || now === undefined) return
    const isSynchronized = !now.isSyncing && now.failure === null
    if (isSynchronized && wasSyncing) out.write(`synchronized: block ${now.head}\n`)
    wasSyncing = !isSynchronized
    const line = isSynchronized ? olderLineOf(now) : lineOf(now)
    if (line !== null) out.write(line)
    isShown = line !== null
  }, redrawMs).unref()
  return () => {
    clearInterval(timer)
    clear()
  }
}

function lineOf(figures: SyncFigures): string {
  const { stages, peers, secondsLeft, failure } = syncProgress(figures)
  if (failure !== null) return `synchronization stopped: ${failure}; trying again`
  const parts = stages.map(({ stage, block, target }) =>
    stage === 'state' ? `state ${megabytes(block)}/${megabytes(target)} MB` : `${stage} ${block}/${target}`,
  )
  const { blocksPerSecond, state } = figures
  const rate = state === null ? `${blocksPerSecond} blocks/s` : `${megabytes(state.bytesPerSecond)} MB/s`
  const left = secondsLeft === null ? [] : [`${duration(secondsLeft)} left`]
  return [...parts, rate, `${peers} ${peers === 1 ? 'peer' : 'peers'}`, ...left].join('  ')
}

function olderLineOf(figures: SyncFigures): string | null {
  const { older } = syncProgress(figures)
  if (older === null) return null
  const left = older.secondsLeft === null ? [] : [`${duration(older.secondsLeft)} left`]
  return [`older blocks down to ${older.oldest}`, `${older.perSecond} blocks/s`, ...left].join('  ')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
