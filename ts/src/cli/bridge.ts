import { Command, InvalidArgumentError, Option } from 'commander'
import type { DevelopmentBridge } from '../bridge/developmentBridge.ts'
import { wholeNumber } from './wholeNumber.ts'

interface Options {
  readonly url: string
  readonly json?: boolean
}

const satoshisPerCoin = 100_000_000n
const defaultAmount = '0.1'

/** Commands for the peg of a running development node: docs/bridge.md. */
export function bridgeCommand(): Command {
  const bridge = new Command('bridge').description('Use the Bridge of a development node with a stand-in for Bitcoin')
  bridge.addCommand(
    subcommand('state', 'Show federation, limits and waiting peg-outs').action((options: Options) =>
      run(options, (peg) => peg.state()),
    ),
  )
  bridge.addCommand(
    subcommand('mine', 'Mine Bitcoin blocks and hand their headers to the Bridge')
      .argument('[blocks]', 'number of blocks', wholeNumber, 1)
      .action((blocks: number, options: Options) => run(options, (peg) => peg.mineBitcoin(blocks))),
  )
  bridge.addCommand(
    withAmount(subcommand('peg-in', 'Pay Bitcoin to the federation and register the payment'))
      .argument('<address>', 'receiver of the RBTC', rootstockAddress)
      .action((address: string, options: Options & { btc: bigint }) =>
        run(options, (peg) => peg.pegIn(address, options.btc)),
      ),
  )
  bridge.addCommand(
    withAmount(subcommand('flyover', 'Do a flyover peg-in: a liquidity provider registers the payment'))
      .argument('<address>', 'receiver of the RBTC', rootstockAddress)
      .action((address: string, options: Options & { btc: bigint }) =>
        run(options, (peg) => peg.flyoverPegIn(address, options.btc)),
      ),
  )
  bridge.addCommand(
    withAmount(subcommand('peg-out', 'Request Bitcoin for RBTC'))
      .option('--from <address>', 'account of the node (default: the first)', rootstockAddress)
      .action((options: Options & { btc: bigint; from?: string }) =>
        run(options, (peg) => peg.pegOut(options.from, options.btc)),
      ),
  )
  bridge.addCommand(
    subcommand('confirm', 'Mine blocks until the requested peg-outs can be signed').action((options: Options) =>
      run(options, (peg) => peg.confirmPegOuts()),
    ),
  )
  bridge.addCommand(
    subcommand('sign', 'Sign the peg-outs as the federation and put them into a Bitcoin block').action(
      (options: Options) => run(options, (peg) => peg.signPegOuts()),
    ),
  )
  return bridge
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--url <url>', 'URL of the node', 'http://127.0.0.1:4444')
    .option('--json', 'print JSON')
}

function withAmount(command: Command): Command {
  return command.addOption(
    new Option('--btc <amount>', 'amount').argParser(satoshis).default(satoshis(defaultAmount), defaultAmount),
  )
}

async function run(options: Options, work: (peg: DevelopmentBridge) => Promise<object>): Promise<void> {
  // Imported on demand: only these commands need the Bitcoin library.
  const { DevelopmentBridge } = await import('../bridge/developmentBridge.ts')
  const result = await work(new DevelopmentBridge(options.url))
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  const parts = Array.isArray(result) ? (result as object[]) : [result]
  if (parts.length === 0) process.stdout.write('nothing waits\n')
  for (const [index, part] of parts.entries()) {
    if (index > 0) process.stdout.write('\n')
    for (const [name, value] of Object.entries(part)) process.stdout.write(`${name.padEnd(24)} ${lineOf(value)}\n`)
  }
}

function lineOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function rootstockAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text
  throw new InvalidArgumentError('expected 0x and 40 hex digits.')
}

function satoshis(text: string): bigint {
  const [, coins, decimals = ''] = /^(\d{1,8})(?:\.(\d{1,8}))?$/.exec(text) ?? []
  if (coins === undefined) throw new InvalidArgumentError('expected an amount in BTC, e.g. 0.25.')
  return BigInt(coins) * satoshisPerCoin + BigInt(decimals.padEnd(8, '0'))
}
