import { createReadStream, statSync } from 'node:fs'
import { Command } from 'commander'
import { ConfigError } from '../config/error.ts'
import { loadAddon } from '../native/load.ts'
import { assertReadable } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { publisherKey } from './publisherKey.ts'
import { runImport } from './runImport.ts'

type ImportOptions = Parsed & { trust?: string; rskj?: string; json?: boolean }

export function importCommand(): Command {
  const command = new Command('import').description(
    'Import blocks from a file (one block per line: number,hash,total difficulty,block), from block archives, or from a data directory of rskj',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .argument('[source...]', 'file, or archives that are read at once: folders, http, https or s3 URLs')
    .option('--rskj <dir>', 'data directory of rskj (database.dir) whose node does not run, instead of sources')
    .option('--trust <key>', 'public key of the only accepted publisher of archives', publisherKey)
    .option('--json', 'print one line of JSON for each block')
    .action(async (sources: string[], options: ImportOptions) => {
      const config = configFrom(options, { mining: 'off' })
      const file = fileOf(sources, options)
      const { json = false, rskj, trust = '' } = options
      const total = !json && process.stderr.isTTY ? await blockCount(sources, file) : null
      await runImport(config, { json, total, isCounted: file !== undefined }, (native, onProgress) => {
        if (rskj !== undefined) return native.importRskj(rskj, onProgress)
        if (file !== undefined) return native.importBlocks(file, '{}', onProgress)
        return native.importArchives(sources, trust, onProgress)
      })
    })
}

/** Returns the file of blocks among the sources. Throws if the sources cannot be imported together. */
function fileOf(sources: readonly string[], { rskj, trust }: ImportOptions): string | undefined {
  if (rskj !== undefined) {
    if (sources.length > 0) throw new ConfigError(['--rskj: a data directory of rskj is imported alone'])
    if (trust !== undefined) throw new ConfigError(['--trust: a data directory of rskj has no publisher'])
    return undefined
  }
  if (sources.length === 0) throw new ConfigError(['import: a file, archives or --rskj DIR are expected'])
  const file = sources.find((source) => !isArchive(source))
  if (file === undefined) return undefined
  assertReadable(file)
  if (sources.length > 1) throw new ConfigError([`${file}: a file of blocks is imported alone`])
  if (trust !== undefined) throw new ConfigError([`--trust: ${file} is not an archive: it has no publisher`])
  return file
}

/** Whether a source is an archive: a URL or a folder. */
function isArchive(source: string): boolean {
  return /^[a-z0-9]+:\/\//i.test(source) || statSync(source, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns the number of the last block of an archive, or the number of lines of a file; null if it is unknown. */
async function blockCount(sources: readonly string[], file: string | undefined): Promise<number | null> {
  if (file !== undefined) return lineCount(file)
  if (sources.length === 0) return null
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
