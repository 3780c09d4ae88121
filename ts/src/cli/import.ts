import { createReadStream, statSync } from 'node:fs'
import { Command } from 'commander'
import { assertReadable, withNewCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'

/** Report of the core after each block. */
interface ImportedBlock {
  readonly number: number
  readonly hash: string
  readonly stateRoot: string
  readonly result: string
}

export function importCommand(): Command {
  const command = new Command('import').description(
    'Import blocks from a file (one block per line: number,hash,total difficulty,block)',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .argument('<file>', 'file to read')
    .option('--json', 'print one line of JSON for each block')
    .action(async (file: string, options: Parsed & { json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      assertReadable(file)
      let done = 0
      const total = options.json === true || !process.stderr.isTTY ? null : await lineCount(file)
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        if (options.json === true) process.stdout.write(`${progress}\n`)
        else {
          const { number, result } = JSON.parse(progress) as ImportedBlock
          bar.show(`block ${number} ${result}`, ++done, total)
        }
      }
      const work = withNewCore(config, (native) => native.importBlocks(file, '{}', onProgress))
      const summary = await work.finally(() => bar.end())
      if (options.json !== true) process.stdout.write(`${describe(JSON.parse(summary) as Record<string, number>)}\n`)
    })
}

/** Counts the lines of a file, to estimate the remaining time. Returns null for a pipe, a device or an unreadable file. */
async function lineCount(path: string): Promise<number | null> {
  try {
    if (!statSync(path).isFile()) return null
    let lines = 0
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
    }
    return lines
  } catch {
    // The import reports the problem.
    return null
  }
}

function describe(summary: Record<string, number>): string {
  return Object.entries(summary)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
