import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { defaultFile, withoutSecrets } from '../config/print.ts'

export function configCommand(): Command {
  return new Command('config')
    .description('Check a configuration file, or print one with all defaults')
    .option('--check <file>', 'check a file and print its problems')
    .option('--print-default', 'print a file with every setting at its default')
    .option('--json', 'with --check: print the complete configuration as JSON, without secrets')
    .action(async (options: { check?: string; printDefault?: boolean; json?: boolean }, command: Command) => {
      if (options.printDefault === true) {
        process.stdout.write(defaultFile())
      } else if (options.check !== undefined) {
        const config = loadConfig({ file: options.check })
        const { startSettings } = await import('../startSettings.ts')
        startSettings(config)
        if (config.admin.enabled) (await import('../admin/token.ts')).readToken(config.admin)
        process.stdout.write(
          options.json === true ? `${JSON.stringify(withoutSecrets(config))}\n` : `${options.check}: ok\n`,
        )
      } else {
        command.error('error: give --check FILE or --print-default')
      }
    })
}
