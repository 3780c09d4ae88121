import { Command } from 'commander'
import { version } from '../version.ts'
import { archiveCommand } from './archive.ts'
import { bridgeCommand } from './bridge.ts'
import { compareCommand } from './compare.ts'
import { configCommand } from './config.ts'
import { exportCommand } from './export.ts'
import { forkCacheCommand } from './forkCache.ts'
import { importCommand } from './import.ts'
import { infoCommand } from './info.ts'
import { keysCommand } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { peersCommand } from './peers.ts'
import { pruneCommand } from './prune.ts'
import { rewindCommand } from './rewind.ts'
import { snapshotCommand } from './snapshot.ts'
import { startCommand } from './start.ts'
import { verifyCommand } from './verify.ts'

/** Creates the command line. Invalid usage is printed to standard error, then throws CommanderError. */
export function createProgram(): Command {
  const program = new Command('rhizome')
    .description('A Rootstock (RSK) node')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`rhizome: ${text.replace(/^error: /, '')}`) })
    .showHelpAfterError('(see --help)')
  const commands = [
    startCommand(),
    importCommand(),
    exportCommand(),
    archiveCommand(),
    snapshotCommand(),
    migrateCommand(),
    rewindCommand(),
    pruneCommand(),
    verifyCommand(),
    infoCommand(),
    peersCommand(),
    compareCommand(),
    configCommand(),
    keysCommand(),
    bridgeCommand(),
    forkCacheCommand(),
  ]
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const inner of command.commands) inner.copyInheritedSettings(program)
  }
  return program
}
