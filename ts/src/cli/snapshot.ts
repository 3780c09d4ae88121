import { Command } from 'commander'
import { ConfigError } from '../config/error.ts'
import { loadAddon } from '../native/load.ts'
import { nodeConfig } from '../nodeConfig.ts'
import type { Checkpoint } from '../restore.ts'
import { assertDataExists, dataDirIn } from './openCore.ts'
import { addChainOptions, addDevelopmentOptions, configFrom, type Parsed } from './options.ts'
import { ProgressBar } from './progressBar.ts'
import { publisherKey } from './publisherKey.ts'

interface LocationOptions {
  readonly to?: string
  readonly trust?: string
  readonly checkpoint?: string
  readonly json?: boolean
}

const locationHelp = 'folder, or s3://bucket/path (access from the AWS_... variables)'

export function snapshotCommand(): Command {
  const command = new Command('snapshot').description(
    'Create, list, verify and restore checkpoints of data directories',
  )
  for (const inner of [createCommand(), listCommand(), verifyCommand(), restoreCommand()]) command.addCommand(inner)
  return command
}

function createCommand(): Command {
  const command = new Command('create').description('Write a checkpoint of a data directory, also of a running node')
  return addLocation(addChainOptions(command))
    .requiredOption('--key <file>', 'private key of the publisher (created if missing)')
    .action(async (given: string | undefined, options: Parsed & LocationOptions & { key: string }) => {
      const location = locationOf(given, options)
      const config = configFrom(options)
      assertDataExists(config)
      await show(options, (onProgress) =>
        loadAddon().createCheckpoint(dataDirIn(config), location, options.key, onProgress),
      )
    })
}

function listCommand(): Command {
  const command = new Command('list').description('Print the checkpoints of a folder or a bucket')
  return addLocation(command)
    .option('--trust <key>', 'public key of the only accepted publisher', publisherKey)
    .action(async (given: string | undefined, options: LocationOptions) => {
      const result = await loadAddon().listCheckpoints(locationOf(given, options), options.trust ?? '')
      const checkpoints = JSON.parse(result) as Checkpoint[]
      const lines = checkpoints.map((one) => `${describe(one)}\n`)
      process.stdout.write(options.json === true ? `${result}\n` : lines.join(''))
    })
}

function verifyCommand(): Command {
  const command = new Command('verify').description('Compare all of a checkpoint with its hashes and its signature')
  return addChoice(addLocation(command))
    .option('--trust <key>', 'public key of the only accepted publisher', publisherKey)
    .action(async (given: string | undefined, options: LocationOptions) => {
      const { checkpoint = '', trust = '' } = options
      const location = locationOf(given, options)
      await show(options, (onProgress) => loadAddon().verifyCheckpoint(location, checkpoint, trust, onProgress))
    })
}

function restoreCommand(): Command {
  const command = new Command('restore').description('Make a checkpoint the database of an empty data directory')
  return addChoice(addLocation(addDevelopmentOptions(addChainOptions(command))))
    .requiredOption('--trust <key>', 'public key of the only accepted publisher', publisherKey)
    .action(async (given: string | undefined, options: Parsed & LocationOptions & { trust: string }) => {
      // Not the setting: the name of a checkpoint here.
      const { checkpoint = '', ...others } = options
      const location = locationOf(given, options)
      const config = configFrom(others, { mining: 'off' })
      const folder = dataDirIn(config)
      const settings = await nodeConfig(config)
      const restored = await show(options, (onProgress) =>
        loadAddon().restoreCheckpoint(settings, location, checkpoint, options.trust, onProgress),
      )
      if (!restored) throw new Error(`${folder}: there is a chain already; it is not overwritten (--data-dir)`)
    })
}

/** Adds the location, as an argument or a flag. */
function addLocation(command: Command): Command {
  return command
    .argument('[location]', locationHelp)
    .option('--to <location>', 'the same as a flag')
    .option('--json', 'print JSON')
}

function addChoice(command: Command): Command {
  return command.option('--checkpoint <name>', 'name of the checkpoint (default: the latest)')
}

function locationOf(given: string | undefined, { to }: LocationOptions): string {
  const location = given ?? to
  if (location === undefined || location === '') throw new ConfigError([`--to: expected a ${locationHelp}`])
  return location
}

/** Runs work with progress, and prints the checkpoint. Returns false if there is none. */
async function show(
  { json = false }: LocationOptions,
  work: (onProgress: (error: Error | null, progress: string) => void) => Promise<string>,
): Promise<boolean> {
  const bar = new ProgressBar(process.stderr, !json)
  const running = work((_error, progress) => {
    const { done, total } = JSON.parse(progress) as { done: number; total: number }
    bar.show('checkpoint', Math.round(done / 2 ** 20), Math.round(total / 2 ** 20), 'MB')
  })
  const result = await running.finally(() => bar.end())
  const checkpoint = JSON.parse(result) as Checkpoint | null
  if (checkpoint === null) return false
  process.stdout.write(`${json ? result : describe(checkpoint)}\n`)
  return true
}

function describe({ name, number, hash, bytes, written, read, created, publisher, ...rest }: Checkpoint): string {
  const moved = [
    ...(written === undefined ? [] : [`, ${written} new bytes written`]),
    ...(read === undefined ? [] : [`, ${read} bytes downloaded`]),
  ]
  return [
    name,
    `  block ${number} (${hash}), of ${new Date(created * 1000).toISOString()}`,
    `  ${bytes} bytes in ${rest.files} files${moved.join('')}`,
    `  tries of ${rest.hasAllTries ? 'all' : 'the last'} blocks, states from block ${rest.oldestState} on, layout ${rest.layout}`,
    `  publisher ${publisher}`,
  ].join('\n')
}
