import { Command } from 'commander'
import { assertDataExists, withCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { wholeNumber } from './wholeNumber.ts'

export function rewindCommand(): Command {
  const command = new Command('rewind').description('Remove the blocks above a height from a data directory')
  return addDevelopmentOptions(addChainOptions(command))
    .requiredOption('--to <number>', 'last block that stays', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (options: Parsed & { to: number; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertDataExists(config)
      const result = await withCore(config, (native) => native.rewindChain(options.to))
      const { from, to, hash } = JSON.parse(result) as { from: number; to: number; hash: string }
      const text = `from block ${from} back to block ${to} (${hash})`
      process.stdout.write(options.json === true ? `${result}\n` : `${text}\n`)
    })
}
