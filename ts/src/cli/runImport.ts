import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { withNewCore } from './openCore.ts'
import { ProgressBar } from './progressBar.ts'

/** Report of the core after each block. */
interface ImportedBlock {
  readonly number: number
  readonly hash: string
  readonly stateRoot: string
  readonly result: string
}

/** Report of the core about another database: a fault of it, rows that were searched, then the number of the last block. */
type SourceReport = { readonly warning: string } | { readonly rows: number } | { readonly last: number }

/** Result of the core after an import: counts, and failures of archives that another archive replaced. */
interface ImportSummary {
  readonly refused?: string[]
}

/** Members of `nodeInfo` that are read. */
interface OpenedChain {
  readonly number: number
  /** First block whose header has a state root that is compared (RSKIP-126). */
  readonly stateComparedFrom: number
}

type OnProgress = (error: Error | null, progress: string) => void

/** Form of the progress of an import. */
interface Shown {
  readonly json: boolean
  /** Number of the last block, or of all blocks with `isCounted`; null if unknown. */
  readonly total: number | null
  /** Shows how many blocks are done, instead of their numbers. */
  readonly isCounted: boolean
}

/** Runs an import of the core, with its progress on the terminal or as lines of JSON, and prints the counts. */
export async function runImport(
  config: Config,
  { json, total, isCounted }: Shown,
  start: (native: Addon, onProgress: OnProgress) => Promise<string>,
): Promise<void> {
  let done = 0
  let last = total
  const bar = new ProgressBar(process.stderr, !json)
  const onProgress: OnProgress = (_error, progress) => {
    if (json) {
      process.stdout.write(`${progress}\n`)
      return
    }
    const report = JSON.parse(progress) as ImportedBlock | SourceReport
    if ('warning' in report) process.stderr.write(`${report.warning}\n`)
    else if ('rows' in report) bar.show('searching the heaviest chain', report.rows, null, 'rows')
    else if ('last' in report) last = report.last
    else {
      done++
      bar.show(`block ${report.number} ${report.result}`, isCounted ? done : report.number, last)
    }
  }
  const work = withNewCore(config, (native) => {
    const { number, stateComparedFrom } = JSON.parse(native.nodeInfo()) as OpenedChain
    if (number + 1 < stateComparedFrom) process.stderr.write(`state not compared before block ${stateComparedFrom}\n`)
    return start(native, onProgress)
  })
  const { refused = [], ...counts } = JSON.parse(await work.finally(() => bar.end())) as ImportSummary
  for (const failure of refused) process.stderr.write(`${failure}\n`)
  const text = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  if (!json) process.stdout.write(`${text.join(', ')}\n`)
}
