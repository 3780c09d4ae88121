import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { ConfigError } from '../config/error.ts'
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
        throw new ConfigError([`${from}: is the data directory itself; --data-dir has to name a new one`])
      }
      await runImport(config, { json, total: null, isCounted: false }, (native, onProgress) => {
        checkStates(JSON.parse(native.nodeInfo()) as KeptStates, dataDirOf(config) ?? '')
        return native.migrateBlocks(from, onProgress)
      })
    })
}

/** Members of `nodeInfo` about states. */
interface KeptStates {
  readonly number: number
  readonly oldestState: number
  /** States below the head that the settings ask for; null for all. */
  readonly keptStates: number | null
  readonly history: string
}

/** Throws if an earlier run with another setting deleted states that this one asks for. */
function checkStates({ number, oldestState, keptStates, history }: KeptStates, dataDir: string): void {
  const wanted = keptStates === null ? 0 : Math.max(0, number - keptStates)
  if (oldestState <= wanted) return
  throw new Error(
    `storage.history: ${dataDir} has states from block ${oldestState} on only, because an earlier run kept fewer, but ${JSON.stringify(history)} asks for those from block ${wanted} on: use the setting of that run, or a new --data-dir`,
  )
}
