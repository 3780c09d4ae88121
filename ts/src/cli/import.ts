import { Command } from 'commander'
import { withCore } from './openCore.ts'
import { addChainOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'

/** What the core reports after each block. */
interface ImportedBlock {
  readonly number: number
  readonly hash: string
  readonly stateRoot: string
  readonly result: string
}

export function importCommand(): Command {
  const command = new Command('import').description(
    'Import blocks from a file (one block a line: number,hash,total difficulty,block)',
  )
  return addChainOptions(command)
    .argument('<file>', 'file to read')
    .option('--json', 'print one line of JSON for each block')
    .action(async (file: string, options: Parsed & { json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        if (options.json === true) process.stdout.write(`${progress}\n`)
        else bar.show(JSON.parse(progress) as ImportedBlock)
      }
      const work = withCore(config, (native) => native.importBlocks(file, '{}', onProgress))
      const summary = await work.finally(() => bar.end())
      if (options.json !== true) process.stdout.write(`${describe(JSON.parse(summary) as Record<string, number>)}\n`)
    })
}

function describe(summary: Record<string, number>): string {
  return Object.entries(summary)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
