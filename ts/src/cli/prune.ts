import { Command } from 'commander'
import { assertDataExists, withCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'

/** Result of the core. */
interface Pruning {
  readonly oldestState: number
  readonly bytesBefore: number
  readonly bytes: number
  /** Whether the command was ended before it was complete. */
  readonly partial: boolean
}

/** Progress report of the core: first states, then files. */
type PrunedPart =
  | { readonly oldestState: number; readonly target: number }
  | { readonly done: number; readonly total: number }

export function pruneCommand(): Command {
  const command = new Command('prune').description(
    'Delete the states that storage.history does not ask for, and free their space',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .option('--json', 'print JSON')
    .action(async (options: Parsed & { json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertDataExists(config)
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const part = JSON.parse(progress) as PrunedPart
        if ('done' in part) bar.show('rewriting files', part.done, part.total, 'steps')
        else bar.show('states', part.oldestState, part.target)
      }
      const work = withCore(config, (native) => native.pruneStates(onProgress))
      const result = await work.finally(() => bar.end())
      const pruned = JSON.parse(result) as Pruning
      process.stdout.write(options.json === true ? `${result}\n` : `${describe(pruned)}\n`)
      // Also after a signal.
      if (pruned.partial) process.exitCode = 1
    })
}

function describe({ oldestState, bytesBefore, bytes, partial }: Pruning): string {
  const states = oldestState === 0 ? 'all states are kept' : `the oldest kept state is that of block ${oldestState}`
  return `${partial ? 'partial: ' : ''}${states}, ${megabytes(bytesBefore)} before, ${megabytes(bytes)} now`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
