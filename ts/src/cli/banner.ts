import { dataDirOf, healthLimitsOf, isDevelopment, miningOf } from '../config/network.ts'
import { networkSettings } from '../config/peers.ts'
import type { Config } from '../config/schema.ts'
import { developmentKeys } from '../developmentKeys.ts'
import type { ServingNode } from '../main.ts'
import { version } from '../version.ts'

const weiPerCoin = 10n ** 18n

/** Members of `nodeInfo` that the banner shows. */
interface Info {
  readonly network: string
  readonly chainId: number
  readonly number: number
  readonly hash: string
  readonly fork?: { readonly host: string; readonly number: number; readonly cache: string | null }
}

/** Returns the banner after the start: addresses, settings and development accounts. */
export async function banner(config: Config, node: ServingNode): Promise<string> {
  const { native } = node
  const read = (answer: string | Buffer): unknown => JSON.parse(answer.toString())
  const { network: name, chainId, number, hash, fork } = JSON.parse(native.nodeInfo()) as Info
  const lines = [
    '',
    `Rhizome ${version}`,
    `  network   ${name}, chain id ${chainId}`,
    ...(fork === undefined
      ? []
      : [`  fork      of ${fork.host} at block ${fork.number}, cache: ${fork.cache ?? 'none'}`]),
    `  block     ${number} (${hash})`,
    `  mining    ${miningText(config)}`,
    ...profileLines(config),
    ...peerLines(config, node),
    `  data      ${dataDirOf(config) ?? 'in a temporary folder, deleted when the node stops'}`,
    `  JSON-RPC  ${node.url} (${node.workers} ${node.workers === 1 ? 'worker' : 'workers'})`,
    ...node.urls.slice(1).map((url) => `            ${url}`),
    ...(node.metricsUrl === undefined ? [] : [`  metrics   ${node.metricsUrl}`]),
    ...(node.adminUrl === undefined ? [] : [`  operator  ${node.adminUrl}`]),
    ...(node.explorerUrl === undefined ? [] : [`  explorer  ${node.explorerUrl}`]),
    '',
  ]
  const accounts = read(native.ethAccounts()) as string[]
  const keys = await developmentKeys(config)
  if (accounts.length > 0) lines.push(warning(config))
  for (const [index, account] of accounts.entries()) {
    const balance = BigInt(read(await native.ethGetBalance(account, 'latest')) as string)
    const key = keys[index]
    lines.push(`  ${account}  ${coins(balance)} RBTC`)
    if (key !== undefined) lines.push(`    key ${key}`)
  }
  if (accounts.length > 0) lines.push('')
  return `${lines.join('\n')}\n`
}

/** Returns the line about peers: the URL of this node, if it has one. */
function peerLines(config: Config, { native }: ServingNode): string[] {
  if (networkSettings(config) === undefined) return isDevelopment(config) ? [] : withoutPeers(config)
  const { enode } = JSON.parse(native.adminNodeInfo().toString()) as { enode: string | null }
  return [`  peers     ${enode ?? 'dialled only: there is no port for peers'}`]
}

/** Returns the lines about missing peers and other sources of blocks. */
function withoutPeers(config: Config): string[] {
  const { maxHeadAgeSeconds } = healthLimitsOf(config)
  return [
    '  peers     none: p2p.port is 0, so this node does not follow its chain by itself.',
    '            Blocks come from files (rhizome import FILE, while the node is stopped) and from merged',
    '            mining ([modules.mnr] enabled = true, then mnr_submitBitcoinBlock).',
    ...(maxHeadAgeSeconds === 0
      ? []
      : [`            While the head is older than ${maxHeadAgeSeconds} s, /health answers 503.`]),
  ]
}

function warning({ development }: Config): string {
  return development.mnemonic === ''
    ? 'Development accounts. Their keys are public: never send real money to them.'
    : 'Accounts of the mnemonic. Their keys are printed here: never send real money to them.'
}

/** Returns the line about the profile of answers. */
function profileLines(config: Config): string[] {
  if (!isDevelopment(config) || config.compat === 'reference') return [`  profile   ${config.compat}`]
  if (config.tools) return ['  profile   tools: for test suites of Hardhat and Foundry']
  return ['  profile   document (--tools is there for Hardhat and Foundry test suites)']
}

function miningText(config: Config): string {
  const mining = miningOf(config)
  if (mining.mode === 'auto') return 'a block for each transaction'
  return mining.mode === 'interval' ? `a block every ${mining.milliseconds / 1000} s` : 'off'
}

function coins(wei: bigint): string {
  const whole = wei / weiPerCoin
  const rest = wei % weiPerCoin
  return rest === 0n ? String(whole) : `${whole}.${String(rest).padStart(18, '0').replace(/0+$/, '')}`
}
