import type { WriteStream } from 'node:tty'
import type { SyncFigures } from '../observe/nodeFigures.ts'
import { syncProgress } from '../observe/syncProgress.ts'
import { duration } from './progressBar.ts'

const redrawMs = 1000

/**
 * Shows the stages of a running synchronization in one line of a terminal, and one line at its end. Prints nothing if the output
 * is not a terminal: the log has the same figures. Returns a function that ends it.
 */
export function showSync(
  figures: () => SyncFigures | null | undefined,
  out: Pick<WriteStream, 'write' | 'isTTY'>,
): () => void {
  if (!out.isTTY) return () => undefined
  let isShown = false
  const clear = (): void => {
    if (isShown) out.write('\r\x1b[K')
    isShown = false
  }
  const timer = setInterval(() => {
    const now = figures()
    const wasShown = isShown
    clear()
    if (now === null || now === undefined) return
    if (now.isSyncing || now.failure !== null) {
      out.write(lineOf(now))
      isShown = true
    } else if (wasShown) out.write(`synchronized: block ${now.head}\n`)
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

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
