import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { Command } from 'commander'
import { withReadOnlyCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

export function exportCommand(): Command {
  const command = new Command('export').description('Write blocks to a file, in the format that import reads')
  return addDevelopmentOptions(addChainOptions(command))
    .argument('<file>', 'file to write')
    .requiredOption('--from <number>', 'first block', wholeNumber)
    .requiredOption('--to <number>', 'last block', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (file: string, options: Parsed & { from: number; to: number; json?: boolean }) => {
      const { from, to } = options
      if (from > to) throw new Error(`--from: block ${from} comes after block ${to} of --to`)
      const config = configFrom(options, { mining: 'off' })
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        const { number } = JSON.parse(progress) as { number: number }
        bar.show(`block ${number}`, number - from + 1, to - from + 1)
      }
      const work = withReadOnlyCore(config, (native) => {
        const { number: head } = JSON.parse(native.nodeInfo()) as { number: number }
        if (to > head) throw new Error(`--to: there is no block ${to}: the head is block ${head}`)
        return intoNewFile(file, () => native.exportBlocks(file, from, to, onProgress))
      })
      const result = await work.finally(() => bar.end())
      const { blocks } = JSON.parse(result) as { blocks: number }
      process.stdout.write(options.json === true ? `${result}\n` : `${blocks} blocks written to ${file}\n`)
    })
}

/** Creates a file and removes it if `work` fails. Pipes and devices are left as they are. Throws if the file exists. */
async function intoNewFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  const isSpecial = statSync(path, { throwIfNoEntry: false })?.isFile() === false
  if (!isSpecial) {
    try {
      closeSync(openSync(path, 'wx'))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const problem = code === 'EEXIST' ? 'exists; remove it, or name another one' : `cannot be written (${code})`
      throw new Error(`${path}: ${problem}`)
    }
  }
  try {
    return await work()
  } catch (error) {
    if (!isSpecial) rmSync(path, { force: true })
    throw error
  }
}
