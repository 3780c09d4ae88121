import { Command } from 'commander'
import { assertDataExists, withCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Result of the core. */
interface Verification {
  readonly from: number
  readonly to: number
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

/** Progress report of the core. */
type VerifiedPart = { readonly number: number } | { readonly keys: number; readonly share: number }

export function verifyCommand(): Command {
  const command = new Command('verify').description('Execute stored blocks again and compare the results')
  return addDevelopmentOptions(addChainOptions(command))
    .requiredOption('--from <number>', 'first block', wholeNumber)
    .requiredOption('--to <number>', 'last block', wholeNumber)
    .option('--state', 'then compare the flat state of the head with its trie, which reads all of it')
    .option('--json', 'print JSON')
    .action(async (options: Parsed & { from: number; to: number; state?: boolean; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertDataExists(config)
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const part = JSON.parse(progress) as VerifiedPart
        if ('number' in part) bar.show(`block ${part.number}`, part.number - options.from + 1, width(options))
        else bar.show('state', part.keys, estimatedKeys(part), 'keys')
      }
      const { from, to, state = false } = options
      const work = withCore(config, (native) => native.verifyBlocks(from, to, state, onProgress))
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
    return `partial: ${describe(verified)} verified of ${width(verified)} blocks, then stopped`
  }
  const { number, hash, field, expected, got } = difference
  return `block ${number} (${hash}) differs: ${field} expected ${expected}, got ${got}`
}

function describe({ blocks, keys }: Verification): string {
  return keys === undefined ? `${blocks} blocks` : `${blocks} blocks and ${keys} keys of the state`
}

function width({ from, to }: { readonly from: number; readonly to: number }): number {
  return to - from + 1
}

/** Returns null while the estimate is too rough. */
function estimatedKeys({ keys, share }: { readonly keys: number; readonly share: number }): number | null {
  return share < 0.01 ? null : Math.round(keys / share)
}
