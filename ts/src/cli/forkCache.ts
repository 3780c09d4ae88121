import { Command } from 'commander'
import { forkCacheDirOf } from '../config/network.ts'
import { loadAddon } from '../native/load.ts'
import { configFrom, type Parsed } from './options.ts'

/** A cache file of forks. */
interface CachedFork {
  readonly chainId: number
  readonly number: number
  readonly hash: string
  readonly bytes: number
}

/** Commands for the cache of forks. */
export function forkCacheCommand(): Command {
  const cache = new Command('fork-cache').description('List and delete the cached results of remote nodes of forks')
  cache.addCommand(
    withConfig(new Command('list').description('List the cached chains and blocks'))
      .option('--json', 'print JSON')
      .action(list),
  )
  cache.addCommand(withConfig(new Command('clear').description('Delete the cache')).action(clear))
  return cache
}

function withConfig(command: Command): Command {
  return command.option('--config <file>', 'configuration file, whose fork.cacheDir is used')
}

function list({ json, ...options }: Parsed & { json?: boolean }): void {
  const listed = loadAddon().listForkCache(forkCacheDirOf(configFrom(options)))
  if (json === true) {
    process.stdout.write(`${listed}\n`)
    return
  }
  for (const { chainId, number, hash, bytes } of JSON.parse(listed) as CachedFork[]) {
    const megabytes = (bytes / 1e6).toFixed(1)
    process.stdout.write(`chain ${chainId}  block ${number}  ${hash}  ${megabytes} MB\n`)
  }
}

function clear(options: Parsed): void {
  loadAddon().clearForkCache(forkCacheDirOf(configFrom(options)))
}
