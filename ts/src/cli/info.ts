import { Command } from 'commander'
import { dataDirOf } from '../config/network.ts'
import { withReadOnlyCore } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'

export function infoCommand(): Command {
  const command = new Command('info').description('Show network and head of a data directory')
  return addDevelopmentOptions(addChainOptions(command))
    .option('--json', 'print JSON')
    .action(async (options: Parsed & { json?: boolean }) => {
      const config = configFrom(options, { mining: 'off' })
      const info = await withReadOnlyCore(config, async (native) => native.nodeInfo())
      if (options.json === true) {
        process.stdout.write(`${info}\n`)
        return
      }
      const lines = Object.entries({ dataDir: dataDirOf(config), ...(JSON.parse(info) as object) })
      for (const [name, value] of lines) {
        process.stdout.write(`${name.padEnd(14)} ${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
      }
    })
}
