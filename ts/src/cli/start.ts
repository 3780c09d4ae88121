import { Command } from 'commander'
import { ConfigError } from '../config/error.ts'
import { isDevelopment } from '../config/network.ts'
import { type ServingNode, startNode } from '../main.ts'
import { banner } from './banner.ts'
import { ChainLines } from './chainLines.ts'
import { addChainOptions, addDevelopmentOptions, addStoreOption, configFrom, type Parsed } from './options.ts'

/** From the end of the last request, or of its time, to the end of the process; then it is ended by force. */
const stopLimitMs = 900
/** Signals that follow the first within this time are taken for the same request. */
const sameSignalMs = 500

export function startCommand(): Command {
  const command = new Command('start').description('Run the node and serve JSON-RPC')
  return addStoreOption(addDevelopmentOptions(addChainOptions(command)))
    .option('--ephemeral', 'keep nothing after the end')
    .option('--http-host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--http-port <port>', 'port to listen on, 0 for a free one (default: 4444)')
    .option('--tls-cert <file>', 'certificate chain (PEM): serve https and wss')
    .option('--tls-key <file>', 'private key of the certificate (PEM)')
    .option('--open', 'ask nobody for an API key')
    .option('--admin', "serve the operator's page")
    .option('--admin-port <port>', 'its port, 0 for a free one (default: 4447)')
    .option('--workers <number>', 'worker threads, 0 for one per processor (default: 0)')
    .option('--mining <mode>', 'auto, interval=SECONDS or off (default: auto on development networks)')
    .option('--block-time <seconds>', 'mine a block at this interval, as --mining interval=SECONDS does')
    .option('--cors <origins>', 'origins of web pages that may call, separated by commas; "*" for all')
    .option('--compat <choice>', 'document or reference: who wins where they differ (default: document)')
    .option('--tools', 'answer as test suites of Hardhat and Foundry expect (regtest and devnet)')
    .option('--json', 'print one line of JSON instead of the banner')
    .option('--quiet', 'print nothing; the log still goes to standard error')
    .action(async ({ blockTime, json, quiet, ...options }: Parsed & StartOptions) => {
      // Whoever says where it is wants it.
      const wanted = options.adminPort === undefined ? options : { ...options, admin: true }
      const mining = blockTime === undefined ? {} : intervalMining(blockTime, options.mining)
      await run({ ...wanted, ...mining }, json === true ? 'json' : quiet === true ? 'nothing' : 'banner')
    })
}

interface StartOptions {
  readonly blockTime?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

/** What goes to standard output. */
type Output = 'banner' | 'json' | 'nothing'

function intervalMining(seconds: string, mining: Parsed['mining']): Parsed {
  if (mining !== undefined) throw new ConfigError(['--block-time: is another way to say --mining; give one of them'])
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(seconds) || Number(seconds) === 0) {
    throw new ConfigError([`--block-time: expected seconds, as 5 or 0.5, got ${JSON.stringify(seconds)}`])
  }
  return { mining: `interval=${seconds}` }
}

async function run(options: Parsed, output: Output): Promise<void> {
  const config = configFrom(options)
  const hasFile = options.config !== undefined
  // Without a file there is nothing to read again: then it is the terminal that goes away.
  const signalled = nextSignal(hasFile ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
  let isWantedAgain = false
  let reloadNow = (): void => {
    isWantedAgain = true
  }
  if (hasFile) process.on('SIGHUP', () => reloadNow())
  const node = await startNode(config)
  reloadNow = () => readAgain(node, options)
  if (isWantedAgain) reloadNow()
  // A reader that goes away (`| head`) is no reason to end.
  process.stdout.on('error', () => undefined)
  if (output === 'json') {
    const { url, urls, port, metricsUrl, adminUrl } = node
    process.stdout.write(`${JSON.stringify({ url, urls, port, metricsUrl, adminUrl })}\n`)
  }
  if (output === 'banner') {
    const lines = new ChainLines(node.native, process.stdout)
    process.stdout.write(await banner(config, node))
    if (isDevelopment(config)) node.onHead(() => lines.follow())
  }
  const reason = await Promise.race([signalled, node.shutdown, node.failure])
  await stop(node, output, config.http.drainMs + stopLimitMs)
  // Somebody wanted the end, else the node failed by itself.
  process.exit(reason === undefined ? 0 : 1)
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

/** Nothing is lost by it: what was written is on disk, and a block is written as a whole or not at all. */
function endByForce(): void {
  process.kill(process.pid, 'SIGKILL')
}

/**
 * Resolves at the first request to end. A second one ends the process at once, unless it follows so closely that it is the
 * same: a terminal signals the whole group, and npm passes on what it gets.
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
