import { setFlagsFromString } from 'node:v8'
import { Command } from 'commander'
import { ConfigError } from '../config/error.ts'
import { isDevelopment, isFork } from '../config/network.ts'
import { type ServingNode, startNode } from '../main.ts'
import { nodeFigures } from '../native/figures.ts'
import { type StateFlags, stateFilesOf } from '../stateFiles.ts'
import { type Archives, importArchives } from './archives.ts'
import type { Artifacts } from './artifacts.ts'
import { banner } from './banner.ts'
import { ChainLines } from './chainLines.ts'
import { GasReport } from './gasReport.ts'
import { addChainOptions, addDevelopmentOptions, addStoreOption, configFrom, type Parsed } from './options.ts'
import { publisherKey } from './publisherKey.ts'
import { showSync } from './syncLine.ts'

/**
 * Growth of the old objects of a worker, and of the memory of buffers, before all objects are collected. A collection is one step of 4 to
 * 8 ms. Workers have 8 MB of objects: sevenfold, the engine's own limit of 64 MB for buffers comes first. Batches of blocks and
 * proofs from 100 connections cause a third of the collections that they cause with threefold growth, the most that the engine
 * chooses by itself.
 */
const heapGrowth = '--heap-growing-percent=700'

/** Time after `http.drainMs` until the process is killed. */
const stopLimitMs = 900
/** The same, if the state is saved at the end. */
const saveLimitMs = 60_000
/** Files of --artifacts that are reported. */
const maxProblems = 10
/** Signals within this time after the first one are ignored as repetitions. */
const sameSignalMs = 500

export function startCommand(): Command {
  const command = new Command('start').description('Run the node and serve JSON-RPC')
  return addStoreOption(addDevelopmentOptions(addChainOptions(command)))
    .option('--ephemeral', 'delete all data when the node stops')
    .option('--http-host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--http-port <port>', 'port to listen on, 0 for a free one (default: 4444)')
    .option('--tls-cert <file>', 'certificate chain (PEM): serve https and wss')
    .option('--tls-key <file>', 'private key of the certificate (PEM)')
    .option('--open', 'require no API key')
    .option('--admin', "serve the operator's page")
    .option('--admin-port <port>', 'its port, 0 for a free one (default: 4447)')
    .option('--explorer [port]', 'serve a page that shows the chain (default port: 4448, 0 for a free one)')
    .option('--workers <number>', 'worker threads, 0 for one per processor (default: 0)')
    .option('--mining <mode>', 'auto, interval=SECONDS or off (default: auto on development networks)')
    .option('--block-time <seconds>', 'mine a block at this interval, like --mining interval=SECONDS')
    .option('--p2p-host <address>', 'address to listen on for peers')
    .option('--p2p-port <port>', 'TCP and UDP port for peers, 0 for none (default: 5050 on mainnet, 50505 on testnet)')
    .option('--peers <urls>', 'nodes that are always dialled (enode://...), separated by commas')
    .option('--bootnodes <hosts>', 'nodes from which discovery starts (HOST:PORT or enode://...), separated by commas')
    .option('--discovery <on|off>', 'search for nodes over UDP (default: on, but off on development networks)')
    .option('--max-peers <number>', 'peers at the same time (default: 50)')
    .option('--node-key <hex>', 'private key of the node (default: the file nodekey in the data directory)')
    .option('--public-ip <address>', 'address under which other nodes reach this one')
    .option('--sync <full|snap>', 'execute every block, or get a state from peers first (default: full)')
    .option('--snap-server', 'serve whole blocks and states to peers that synchronize by snapshots')
    .option('--checkpoint <blocks>', 'blocks that the chain must have (NUMBER:HASH), separated by commas')
    .option(
      '--fork <url>',
      'continue the chain of another Rootstock node, or of a data directory, in a temporary folder',
    )
    .option('--fork-block <block>', 'number or hash of the block that the fork begins at (default: the best block)')
    .option('--fork-key <header=value>', 'header of the requests to the other node')
    .option('--no-fork-cache', 'do not cache the results of the other node on the disk')
    .option('--index-addresses', 'index transactions by address, for ots_searchTransactions*')
    .option('--index-calls', 'index them by the accounts of inner calls, too')
    .option('--fleet <importer|replica>', 'part of the node in a fleet (default: no fleet)')
    .option('--fleet-url <urls>', 'URLs of the NATS servers of the fleet, separated by commas')
    .option('--cors <origins>', 'origins of web pages that may call, separated by commas; "*" for all')
    .option('--compat <choice>', 'behave like the API document or the reference node (default: document)')
    .option('--tools', 'answer as test suites of Hardhat and Foundry expect (regtest and devnet)')
    .option('--state <file>', 'load the accounts of a file at the start, if it exists, and save them at the end')
    .option('--load-state <file>', 'only load them')
    .option('--dump-state <file>', 'only save them')
    .option('--state-interval <seconds>', 'save them at this interval, too')
    .option(
      '--artifacts <folder>',
      'show contracts, custom errors and call trees by the artifacts of Hardhat or Foundry',
    )
    .option('--gas-report', 'print the gas of each method at the end')
    .option('--archive <location...>', 'import block archives while serving: folders, http, https or s3 URLs')
    .option('--restore <location>', 'begin with the latest checkpoint of a folder, http, https or s3 URL')
    .option('--trust <key>', 'public key of the only accepted publisher of archives and checkpoints', publisherKey)
    .option('--json', 'print one line of JSON instead of the banner')
    .option('--quiet', 'print nothing; the log still goes to standard error')
    .action(async (given: Parsed & StartOptions) => {
      const { blockTime, json, quiet, archive, trust, forkCache, ...others } = given
      const { state, loadState, dumpState, stateInterval, artifacts, gasReport, ...options } = others
      const files = { state, loadState, dumpState, stateInterval }
      // A port for the page implies the page.
      const withPage = options.adminPort === undefined ? options : { ...options, admin: true }
      const { explorer } = options
      const wanted = typeof explorer === 'string' ? { ...withPage, explorer: true, explorerPort: explorer } : withPage
      const mining = blockTime === undefined ? {} : intervalMining(blockTime, options.mining)
      const archives = { locations: archive ?? [], trust: trust ?? '' }
      const trusted = trust === undefined || options.restore === undefined ? {} : { fleetTrust: trust }
      // Commander sets it to true without the flag, which would replace the setting of a file.
      const cache = forkCache === false ? { forkCache } : {}
      // A loaded state is that of a new chain.
      const place = (state ?? loadState) === undefined ? {} : { ephemeral: true }
      const output = json === true ? 'json' : quiet === true ? 'nothing' : 'banner'
      const shows = { artifacts, hasGasReport: gasReport === true }
      await run({ ...wanted, ...mining, ...cache, ...place, ...trusted }, archives, files, shows, output)
    })
}

interface StartOptions extends StateFlags {
  readonly blockTime?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly archive?: string[]
  readonly trust?: string
  readonly artifacts?: string
  readonly gasReport?: boolean
}

/** Additions to the lines on a terminal. */
interface Shows {
  readonly artifacts: string | undefined
  readonly hasGasReport: boolean
}

/** Output on standard output. */
type Output = 'banner' | 'json' | 'nothing'

function intervalMining(seconds: string, mining: Parsed['mining']): Parsed {
  if (mining !== undefined) throw new ConfigError(['--block-time: cannot be combined with --mining'])
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(seconds) || Number(seconds) === 0) {
    throw new ConfigError([`--block-time: expected seconds, as 5 or 0.5, got ${JSON.stringify(seconds)}`])
  }
  return { mining: `interval=${seconds}` }
}

async function run(
  options: Parsed,
  archives: Archives,
  stateFlags: StateFlags,
  shows: Shows,
  output: Output,
): Promise<void> {
  const config = configFrom(options)
  const artifacts = shows.artifacts === undefined ? undefined : await readArtifacts(shows.artifacts)
  const gas = shows.hasGasReport ? new GasReport() : undefined
  const isAllowed = isDevelopment(config) && !isFork(config) && config.fleet.role === 'standalone'
  const stateFiles = stateFilesOf(stateFlags, isAllowed, options.dataDir !== undefined)
  const hasFile = options.config !== undefined
  // With a file, SIGHUP reloads it. Without a file, SIGHUP means that the terminal has closed.
  const signalled = nextSignal(hasFile ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
  let isWantedAgain = false
  let reloadNow = (): void => {
    isWantedAgain = true
  }
  if (hasFile) process.on('SIGHUP', () => reloadNow())
  setFlagsFromString(heapGrowth)
  const starting = startNode(config, { stateFiles, signatures: artifacts?.signatures })
  // A restore takes long, and another run continues it.
  const node = await (config.fleet.restore === '' ? starting : Promise.race([starting, signalled]))
  if (node === undefined) process.exit(0)
  reloadNow = () => readAgain(node, options)
  if (isWantedAgain) reloadNow()
  if (archives.locations.length > 0) void importArchives(node.native, archives, config.log.level)
  // The node keeps running when the reader of its output closes (`| head`).
  process.stdout.on('error', () => undefined)
  if (output === 'json') {
    const { url, urls, port, metricsUrl, adminUrl, explorerUrl } = node
    process.stdout.write(`${JSON.stringify({ url, urls, port, metricsUrl, adminUrl, explorerUrl })}\n`)
  }
  let endSyncLine = (): void => undefined
  if (output === 'banner') {
    const lines = new ChainLines(node.native, process.stdout, { artifacts, gas })
    process.stdout.write(await banner(config, node))
    if (isDevelopment(config)) node.onHead(() => lines.follow())
    endSyncLine = showSync(() => nodeFigures(node.native)?.sync, process.stdout)
  }
  const reason = await Promise.race([signalled, node.shutdown, node.failure])
  endSyncLine()
  const report = output === 'banner' ? (gas?.lines() ?? []) : []
  if (report.length > 0) process.stdout.write(`${report.join('\n')}\n`)
  const limitMs = stateFiles.save === undefined ? stopLimitMs : saveLimitMs
  await stop(node, output, config.http.drainMs + limitMs)
  // `reason` is set only after a failure of the node.
  process.exit(reason === undefined && !node.hasLostState ? 0 : 1)
}

/** Reads contracts and prints the files that are none. Throws ConfigError if the folder cannot be read. */
async function readArtifacts(folder: string): Promise<Artifacts> {
  const { Artifacts } = await import('./artifacts.ts')
  const artifacts = await Artifacts.read(folder)
  const more = artifacts.problems.length - maxProblems
  const problems = [...artifacts.problems.slice(0, maxProblems), ...(more > 0 ? [`and ${more} more`] : [])]
  for (const problem of problems) process.stderr.write(`--artifacts: ${problem}\n`)
  return artifacts
}

function readAgain(node: ServingNode, options: Parsed): void {
  try {
    node.reload(configFrom(options))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    node.refuseReload(error.problems)
  }
}

async function stop(node: ServingNode, output: Output, limitMs: number): Promise<void> {
  setTimeout(endByForce, limitMs).unref()
  const isIdle = await node.stop()
  if (output === 'banner') process.stdout.write('Stopped.\n')
  if (!isIdle) endByForce()
}

/** Kills the process. No data is lost: blocks are written atomically. */
function endByForce(): void {
  process.kill(process.pid, 'SIGKILL')
}

/**
 * Resolves at the first signal. A later signal kills the process, unless it follows at once: a terminal signals the whole
 * process group, and npm also forwards signals, so one Ctrl-C may arrive twice.
 */
function nextSignal(signals: readonly NodeJS.Signals[]): Promise<undefined> {
  return new Promise((resolve) => {
    let firstMs: number | undefined
    for (const signal of signals) {
      process.on(signal, () => {
        if (firstMs === undefined) {
          firstMs = performance.now()
          resolve(undefined)
        } else if (performance.now() - firstMs > sameSignalMs) endByForce()
      })
    }
  })
}
