import { Command } from 'commander'
import { version } from '../version.ts'
import { archiveCommand } from './archive.ts'
import { configCommand } from './config.ts'
import { exportCommand } from './export.ts'
import { forkCacheCommand } from './forkCache.ts'
import { importCommand } from './import.ts'
import { infoCommand } from './info.ts'
import { migrateCommand } from './migrate.ts'
import { pruneCommand } from './prune.ts'
import { rewindCommand } from './rewind.ts'
import { snapshotCommand } from './snapshot.ts'
import { verifyCommand } from './verify.ts'

/** The commands in the order of the help. Large modules are loaded when they are needed: all of them take 40 ms. */
const commands: Readonly<Record<string, () => Command | Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand(),
  import: importCommand,
  export: exportCommand,
  archive: archiveCommand,
  snapshot: snapshotCommand,
  migrate: migrateCommand,
  rewind: rewindCommand,
  prune: pruneCommand,
  verify: verifyCommand,
  info: infoCommand,
  peers: async () => (await import('./peers.ts')).peersCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  config: configCommand,
  keys: async () => (await import('./keys.ts')).keysCommand(),
  bridge: async () => (await import('./bridge.ts')).bridgeCommand(),
  'fork-cache': forkCacheCommand,
}

/**
 * Creates the command line for these arguments: with the command that they name, otherwise with all. Invalid usage is printed to standard
 * error, then throws CommanderError.
 */
export async function createProgram([name = '']: readonly string[]): Promise<Command> {
  const program = new Command('rhizome')
    .description('A Rootstock (RSK) node')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`rhizome: ${text.replace(/^error: /, '')}`) })
    .showHelpAfterError('(see --help)')
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined
  const loaded = await Promise.all((named === undefined ? Object.values(commands) : [named]).map((create) => create()))
  for (const command of loaded) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const inner of command.commands) inner.copyInheritedSettings(program)
  }
  return program
}
