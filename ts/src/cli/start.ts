import { Command } from 'commander'
import type { Config } from '../config/schema.ts'
import { type RunningNode, startNode } from '../main.ts'
import { banner } from './banner.ts'
import { addChainOptions, configFrom, type Parsed } from './options.ts'

/** From the first signal to the end of the process; then it is ended by force. */
const stopLimitMs = 1900
/** Signals that follow the first within this time are taken for the same request. */
const sameSignalMs = 500

export function startCommand(): Command {
  const command = new Command('start').description('Run the node and serve JSON-RPC')
  return addChainOptions(command)
    .option('--ephemeral', 'keep nothing after the end')
    .option('--http-host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--http-port <port>', 'port to listen on, 0 for a free one (default: 4444)')
    .option('--open', 'ask nobody for an API key')
    .option('--workers <number>', 'worker threads, 0 for one per processor (default: 0)')
    .option('--mining <mode>', 'auto, interval=SECONDS or off (default: auto on development networks)')
    .option('--compat <choice>', 'document or reference: who wins where they differ (default: document)')
    .option('--json', 'print one line of JSON instead of the banner')
    .action(async (options: Parsed & { json?: boolean }) => run(configFrom(options), options.json === true))
}

async function run(config: Config, isJson: boolean): Promise<void> {
  const signalled = nextSignal()
  const node = await startNode(config)
  process.stdout.write(
    isJson
      ? `${JSON.stringify({ url: node.url, port: node.port, metricsUrl: node.metricsUrl })}\n`
      : banner(config, node),
  )
  const reason = await Promise.race([signalled, node.shutdown, node.failure])
  await stop(node, isJson)
  // Somebody wanted the end, else the node failed by itself.
  process.exit(reason === undefined ? 0 : 1)
}

async function stop(node: RunningNode, isJson: boolean): Promise<void> {
  setTimeout(endByForce, stopLimitMs).unref()
  const isIdle = await node.stop()
  if (!isJson) process.stdout.write('Stopped.\n')
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
function nextSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    let firstMs: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (firstMs === undefined) {
          firstMs = performance.now()
          resolve(undefined)
        } else if (performance.now() - firstMs > sameSignalMs) endByForce()
      })
    }
  })
}
