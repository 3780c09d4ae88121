import { at, parseHocon, type Tree, type Value } from './hocon.ts'

/** Settings with the names of this node's configuration file. */
export type Settings = Record<string, unknown>

/** A setting of the reference node and the equivalent setting of this node. */
const sameSettings: readonly (readonly [reference: string, path: string])[] = [
  ['wallet.enabled', 'wallet'],
  ['miner.minGasPrice', 'miner.minimumGasPriceWei'],
  ['miner.server.isFixedClock', 'miner.fixedClock'],
  ['rpc.callGasCap', 'rpc.callGasCap'],
  ['rpc.skipRemasc', 'rpc.skipRemasc'],
  ['rpc.zeroSignatureIfRemasc', 'rpc.zeroSignatureIfRemasc'],
  ['rpc.gasEstimationCap', 'rpc.estimateGasCap'],
  ['rpc.maxResponseSize', 'rpc.maxResponseBytes'],
  ['rpc.timeout', 'rpc.timeoutMs'],
  ['rpc.logs.maxBlocksToQuery', 'rpc.logBlocks'],
  ['rpc.logs.maxLogsToReturn', 'rpc.logCount'],
  ['rpc.trace.maxTracesPerRequest', 'rpc.maxTraces'],
  ['rpc.providers.web.max_batch_requests_size', 'rpc.maxBatchRequests'],
  ['rpc.providers.web.http.hosts', 'http.hosts'],
  ['rpc.providers.web.http.max_aggregated_frame_size', 'http.maxBodyBytes'],
  // Here the limit applies to the whole message.
  ['rpc.providers.web.ws.max_frame_size', 'ws.maxMessageBytes'],
]

/** Modules that the reference serves if a profile does not mention modules. */
const stockModules = {
  debug: { enabled: false },
  trace: { enabled: false },
  sco: { enabled: false },
  mnr: { enabled: false },
  rsk: { deny: ['rsk_shutdown', 'rsk_flush', 'rsk_getStorageBytesAt'] },
}

/** Returns this node's settings for a profile of the reference node and the additions of a file. */
export function settingsFor(
  profile: string,
  extraData: string,
  extra: Readonly<Record<string, unknown>> = {},
): Settings {
  const theirs = parseHocon(
    `${profile}\n${Object.entries(extra)
      .map(([name, value]) => `${name} = ${value}`)
      .join('\n')}`,
  )
  const settings: Settings = {
    // Transcripts are compared with the choices of the reference, except estimates, which use the document's (D24).
    compat: 'reference',
    choices: { failedEstimate: 'estimate' },
    mining: at(theirs, 'miner.client.autoMine') === true ? 'auto' : 'off',
    miner: { extraData },
    // Encrypting keys is slow, on a busy machine slower than the time limit of a request.
    rpc: { timeoutMs: 60_000 },
    http: { port: 0, workers: 1, compression: 'all' },
    log: { level: 'warn' },
    modules: at(theirs, 'rpc.modules') === undefined ? stockModules : modulesOf(theirs),
  }
  for (const [name, path] of sameSettings) {
    const value = at(theirs, name)
    if (value !== undefined) put(settings, path, value)
  }
  if (at(theirs, 'miner.server.enabled') === false) {
    // Without a miner, the module is off, and fees have no recipient.
    put(settings, 'miner.coinbase', `0x${'0'.repeat(40)}`)
    put(settings, 'modules.mnr', { enabled: false })
  }
  const isLimited = at(theirs, 'transaction.accountTxRateLimit.enabled')
  if (isLimited !== undefined) put(settings, 'pool.rateLimiter', isLimited === true ? 'on' : 'off')
  if (at(theirs, 'rpc.allowCallStateOverride') === true) put(settings, 'choices.stateOverride', 'serve')
  const cors = at(theirs, 'rpc.providers.web.cors')
  if (cors !== undefined) put(settings, 'http.cors', [cors].flat())
  return settings
}

function modulesOf(theirs: Tree): Settings {
  const modules = (at(theirs, 'rpc.modules') ?? {}) as Record<string, Tree>
  // An empty list of allowed methods allows all; an empty list of denied methods replaces the default list.
  const allowed = (value: Value | undefined): unknown => (Array.isArray(value) && value.length > 0 ? value : undefined)
  return Object.fromEntries(
    Object.entries(modules).map(([name, module]) => {
      const settings = {
        allow: allowed(at(module, 'methods.enabled')),
        deny: at(module, 'methods.disabled'),
        timeoutMs: timeoutsOf(name, at(module, 'methods.timeout')),
      }
      return [name, { enabled: String(at(module, 'enabled')) === 'true', ...given(settings) }]
    }),
  )
}

/** Profiles of the reference name methods without their prefix. */
function timeoutsOf(module: string, timeouts: Value | undefined): unknown {
  if (typeof timeouts !== 'object') return undefined
  return Object.fromEntries(Object.entries(timeouts).map(([name, limit]) => [`${module}_${name}`, limit]))
}

function given(members: Readonly<Record<string, unknown>>): Settings {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function put(settings: Settings, path: string, value: unknown): void {
  const [first = '', second] = path.split('.')
  if (second === undefined) settings[first] = value
  else settings[first] = { ...(settings[first] as Settings | undefined), [second]: value }
}
