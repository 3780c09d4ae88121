import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { dataDirOf } from '../config/network.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { runImport } from './runImport.ts'

export function migrateCommand(): Command {
  const command = new Command('migrate').description(
    'Read the blocks of a data directory of an earlier layout, or with other settings, into a new one; run it again after an interruption',
  )
  return addDevelopmentOptions(addChainOptions(command))
    .requiredOption('--from <dir>', 'the old data directory, which is only read')
    .option('--json', 'print one line of JSON for each block')
    .action(async (options: Parsed & { from: string; json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      const { from, json = false } = options
      if (!existsSync(join(from, 'chain', 'CURRENT'))) throw new Error(`${from}: there is no chain (--from)`)
      if (resolve(from) === resolve(dataDirOf(config) ?? '')) {
        throw new Error(`${from}: is the data directory itself; --data-dir has to name a new one`)
      }
      await runImport(config, { json, total: null, isCounted: false }, (native, onProgress) =>
        native.migrateBlocks(from, onProgress),
      )
    })
}
