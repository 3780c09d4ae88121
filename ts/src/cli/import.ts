import { createReadStream, statSync } from 'node:fs'
import { Command } from 'commander'
import { loadAddon } from '../native/load.ts'
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

/** Result of the core after an import: counts, and failures of archives that another archive replaced. */
interface ImportSummary {
  readonly refused?: string[]
}

export function importCommand(): Command {
  const command = new Command('import').description(
    'Import blocks from a file (one block per line: number,hash,total difficulty,block) or from block archives',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .argument('<source...>', 'file, or archives that are read at once: folders, http, https or s3 URLs')
    .option('--trust <key>', 'public key of the only accepted publisher of archives')
    .option('--json', 'print one line of JSON for each block')
    .action(async (sources: string[], options: Parsed & { trust?: string; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      const file = sources.find((source) => !isArchive(source))
      if (file !== undefined) {
        assertReadable(file)
        if (sources.length > 1) throw new Error(`${file}: a file of blocks is imported alone`)
        if (options.trust !== undefined) throw new Error(`--trust: ${file} is not an archive: it has no publisher`)
      }
      const isShown = options.json !== true && process.stderr.isTTY
      let done = 0
      const total = isShown ? await blockCount(sources, file) : null
      const bar = new ProgressBar(process.stderr, options.json !== true)
      const onProgress = (_error: Error | null, progress: string): void => {
        if (options.json === true) process.stdout.write(`${progress}\n`)
        else {
          const { number, result } = JSON.parse(progress) as ImportedBlock
          done++
          bar.show(`block ${number} ${result}`, file === undefined ? number : done, total)
        }
      }
      const work = withNewCore(config, (native) =>
        file === undefined
          ? native.importArchives(sources, options.trust ?? '', onProgress)
          : native.importBlocks(file, '{}', onProgress),
      )
      const summary = await work.finally(() => bar.end())
      const { refused = [], ...counts } = JSON.parse(summary) as ImportSummary
      for (const failure of refused) process.stderr.write(`${failure}\n`)
      if (options.json !== true) process.stdout.write(`${describe(counts)}\n`)
    })
}

/** Whether a source is an archive: a URL or a folder. */
function isArchive(source: string): boolean {
  return /^[a-z0-9]+:\/\//.test(source) || statSync(source, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns the number of the last block of an archive, or the number of lines of a file; null if it is unknown. */
async function blockCount(sources: readonly string[], file: string | undefined): Promise<number | null> {
  if (file !== undefined) return lineCount(file)
  try {
    const { files } = JSON.parse(await loadAddon().listArchive(sources[0] ?? '', '')) as { files: { last: number }[] }
    return files.at(-1)?.last ?? null
  } catch {
    // The import reports the problem.
    return null
  }
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

function describe(counts: object): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
