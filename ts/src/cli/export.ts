import { Command } from 'commander'
import { assertDataExists, withCore } from './openCore.ts'
import { addChainOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

export function exportCommand(): Command {
  const command = new Command('export').description('Write blocks to a file, in the format that import reads')
  return addChainOptions(command)
    .argument('<file>', 'file to write')
    .requiredOption('--from <number>', 'first block', wholeNumber)
    .requiredOption('--to <number>', 'last block', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (file: string, options: Parsed & { from: number; to: number; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertDataExists(config)
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const { number } = JSON.parse(progress) as { number: number }
        bar.show(`block ${number}`, number - options.from + 1, options.to - options.from + 1)
      }
      const work = withCore(config, (native) => native.exportBlocks(file, options.from, options.to, onProgress))
      const result = await work.finally(() => bar.end())
      const { blocks } = JSON.parse(result) as { blocks: number }
      process.stdout.write(options.json === true ? `${result}\n` : `${blocks} blocks written to ${file}\n`)
    })
}
