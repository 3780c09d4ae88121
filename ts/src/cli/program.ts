import { Command } from 'commander'
import { version } from '../version.ts'

/** The commands in the order of the help. Each module is loaded when it is needed: all of them take 40 ms. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  archive: async () => (await import('./archive.ts')).archiveCommand(),
  snapshot: async () => (await import('./snapshot.ts')).snapshotCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  rewind: async () => (await import('./rewind.ts')).rewindCommand(),
  prune: async () => (await import('./prune.ts')).pruneCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
  info: async () => (await import('./info.ts')).infoCommand(),
  peers: async () => (await import('./peers.ts')).peersCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  bridge: async () => (await import('./bridge.ts')).bridgeCommand(),
  'fork-cache': async () => (await import('./forkCache.ts')).forkCacheCommand(),
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
  const loaded = await Promise.all((named === undefined ? Object.values(commands) : [named]).map((load) => load()))
  for (const command of loaded) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const inner of command.commands) inner.copyInheritedSettings(program)
  }
  return program
}
