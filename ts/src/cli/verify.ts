import { Command } from 'commander'
import { withReadOnlyCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Result of the core. */
interface Verification {
  /** Absent without blocks. */
  readonly from?: number
  /** Absent without blocks. */
  readonly to?: number
  readonly blocks: number
  /** Present with `--state`. */
  readonly keys?: number
  /** Absent if the verification was ended before it was complete. */
  readonly difference?: {
    readonly number: number
    readonly hash: string
    readonly field: string
    readonly expected: string
    readonly got: string
  } | null
}

/** Blocks, of which both ends are given, and whether the state is compared. */
interface Scope {
  readonly from?: number
  readonly to?: number
  readonly state?: boolean
}

/** Progress report of the core. */
type VerifiedPart = { readonly number: number } | { readonly keys: number; readonly share: number }

export function verifyCommand(): Command {
  const command = new Command('verify').description('Execute stored blocks again and compare the results')
  return addDevelopmentOptions(addChainOptions(command))
    .option('--from <number>', 'first block', wholeNumber)
    .option('--to <number>', 'last block', wholeNumber)
    .option(
      '--state',
      'compare the flat state of the head with its trie, which reads all of it; after the blocks, if any',
    )
    .option('--json', 'print JSON')
    .action(async (options: Parsed & Scope & { json?: boolean }, command: Command) => {
      const { from, to, state = false } = options
      if ((from === undefined) !== (to === undefined) || (from === undefined && !state)) {
        command.error('error: give --from and --to, or --state, or all of them')
      }
      const config = configFrom(options, { mining: 'off' })
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const part = JSON.parse(progress) as VerifiedPart
        if ('number' in part) bar.show(`block ${part.number}`, part.number - (from ?? 0) + 1, width(options))
        else bar.show('state', part.keys, estimatedKeys(part), 'keys')
      }
      const work = withReadOnlyCore(config, (native) =>
        native.verifyBlocks(from ?? null, to ?? null, state, onProgress),
      )
      const result = await work.finally(() => bar.end())
      const verified = JSON.parse(result) as Verification
      const problem = problemOf(verified)
      if (options.json === true) process.stdout.write(`${result}\n`)
      else if (problem === undefined) process.stdout.write(`${describe(verified)} verified\n`)
      else throw new Error(problem)
      // Also after a signal.
      if (problem !== undefined) process.exitCode = 1
    })
}

function problemOf(verified: Verification): string | undefined {
  const { difference } = verified
  if (difference === null) return undefined
  if (difference === undefined) {
    const planned = width(verified)
    return `partial: ${describe(verified)} verified${planned === null ? '' : ` of ${planned} blocks`}, then stopped`
  }
  const { number, hash, field, expected, got } = difference
  return `block ${number} (${hash}) differs: ${field} expected ${expected}, got ${got}`
}

function describe({ from, blocks, keys }: Verification): string {
  const parts = [
    ...(from === undefined ? [] : [`${blocks} blocks`]),
    ...(keys === undefined ? [] : [`${keys} keys of the state`]),
  ]
  return parts.join(' and ')
}

/** Returns the number of planned blocks; null without a range. */
function width({ from, to }: { from?: number | undefined; to?: number | undefined }): number | null {
  return from === undefined || to === undefined ? null : to - from + 1
}

/** Returns null while the estimate is too rough. */
function estimatedKeys({ keys, share }: { readonly keys: number; readonly share: number }): number | null {
  return share < 0.01 ? null : Math.round(keys / share)
}
