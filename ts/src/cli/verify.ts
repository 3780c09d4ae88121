import { Command } from 'commander'
import { assertDataExists, withCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Result of the core. */
interface Verification {
  readonly blocks: number
  readonly keys: number
  readonly difference: {
    readonly number: number
    readonly hash: string
    readonly field: string
    readonly expected: string
    readonly got: string
  } | null
}

export function verifyCommand(): Command {
  const command = new Command('verify').description(
    'Execute stored blocks again and compare the results; compare the flat state of the head with its trie',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .requiredOption('--from <number>', 'first block', wholeNumber)
    .requiredOption('--to <number>', 'last block', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (options: Parsed & { from: number; to: number; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertDataExists(config)
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const part = JSON.parse(progress) as { number: number } | { keys: number }
        if ('keys' in part) bar.show('state', part.keys, null, 'keys')
        else bar.show(`block ${part.number}`, part.number - options.from + 1, options.to - options.from + 1)
      }
      const work = withCore(config, (native) => native.verifyBlocks(options.from, options.to, onProgress))
      const result = await work.finally(() => bar.end())
      const { blocks, keys, difference } = JSON.parse(result) as Verification
      if (options.json === true) {
        process.stdout.write(`${result}\n`)
        if (difference !== null) process.exitCode = 1
      } else if (difference === null) {
        process.stdout.write(`${blocks} blocks and ${keys} keys of the state verified\n`)
      } else {
        const { number, hash, field, expected, got } = difference
        throw new Error(`block ${number} (${hash}) differs: ${field} expected ${expected}, got ${got}`)
      }
    })
}
