import { isDevelopment } from './network.ts'
import type { Config } from './schema.ts'

/** The effective choices: the defaults of `compat`, replaced by the settings of single choices. */
export interface Choices {
  readonly errorStatus: '200' | '400'
  readonly errorText: 'helpful' | 'plain'
  readonly failedEstimate: 'estimate' | 'codeError' | 'error'
  readonly estimateCap: 'block' | 'pool'
  readonly pendingSelector: 'refuse' | 'serve'
  readonly haltedCall: 'error' | 'empty'
  readonly bridgeState: 'stored' | 'decodable'
  readonly signatureWords: 'padded' | 'stripped'
  readonly listening: 'actual' | 'always'
  readonly traces: 'standard' | 'reference'
  readonly filterPoll: 'read' | 'mine'
  readonly timeOffset: 'lasting' | 'block'
  readonly stateOverride: 'serve' | 'refuse'
  readonly waiting: 'explained' | 'reference'
  readonly clientVersion: 'tools' | 'own'
  readonly absentBlock: 'latest' | 'refuse'
  readonly depthTags: 'serve' | 'refuse'
}

const document: Choices = {
  errorStatus: '200',
  errorText: 'helpful',
  failedEstimate: 'estimate',
  estimateCap: 'block',
  pendingSelector: 'refuse',
  haltedCall: 'error',
  bridgeState: 'stored',
  signatureWords: 'padded',
  listening: 'actual',
  traces: 'standard',
  filterPoll: 'read',
  timeOffset: 'lasting',
  stateOverride: 'serve',
  waiting: 'explained',
  clientVersion: 'own',
  absentBlock: 'refuse',
  depthTags: 'serve',
}

/** Replaces choices of `document` on regtest and devnet: Hardhat and Foundry expect them, and no other client depends on them. */
const development: Partial<Choices> = { clientVersion: 'tools', absentBlock: 'latest' }

/** Replaces further choices with `tools`: for test suites, against the API document. */
const tools: Partial<Choices> = { failedEstimate: 'codeError' }

const reference: Choices = {
  errorStatus: '400',
  errorText: 'plain',
  failedEstimate: 'error',
  estimateCap: 'pool',
  pendingSelector: 'serve',
  haltedCall: 'empty',
  bridgeState: 'decodable',
  signatureWords: 'stripped',
  listening: 'always',
  traces: 'reference',
  filterPoll: 'mine',
  timeOffset: 'block',
  stateOverride: 'refuse',
  waiting: 'reference',
  clientVersion: 'own',
  absentBlock: 'refuse',
  depthTags: 'refuse',
}

export function decidedChoices(config: Config): Choices {
  const set = Object.entries(config.choices).filter(([, value]) => value !== '')
  return { ...presets(config), ...Object.fromEntries(set) }
}

function presets(config: Config): Choices {
  if (config.compat === 'reference') return reference
  if (!isDevelopment(config)) return document
  return { ...document, ...development, ...(config.tools ? tools : {}) }
}

/** Visibility of the REMASC transaction, the last transaction of each block. */
export type RemascVisibility = 'listed' | 'unlisted' | 'hidden'

/** Returns `unlisted` if block objects leave it out, as in the reference; `hidden` if counts and look-ups by index do so, too. */
export function remascVisibility(config: Config): RemascVisibility {
  if (!config.rpc.skipRemasc && !config.tools) return 'listed'
  return config.compat === 'reference' ? 'unlisted' : 'hidden'
}

/** Returns problems of settings for tools: a public network or a copy of the reference must not call itself anvil. */
export function toolsProblems(config: Config): string[] {
  const refusedWith = isDevelopment(config)
    ? config.compat === 'reference'
      ? 'compat = "reference"'
      : undefined
    : config.network
  if (refusedWith === undefined) return []
  return [
    ...(config.tools ? [`tools: is for regtest and devnet with compat = "document", not for ${refusedWith}`] : []),
    ...(config.choices.clientVersion === 'tools'
      ? [`choices.clientVersion: expected own, got "tools" with ${refusedWith}`]
      : []),
  ]
}
