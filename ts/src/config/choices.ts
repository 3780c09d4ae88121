import { isDevelopment } from './network.ts'
import type { Config } from './schema.ts'

/** The decided choices: what `compat` leaves, and what the file says for single ones. */
export interface Choices {
  readonly errorStatus: '200' | '400'
  readonly errorText: 'helpful' | 'plain'
  readonly failedEstimate: 'estimate' | 'codeError' | 'error'
  readonly estimateCap: 'block' | 'pool'
  readonly pendingSelector: 'refuse' | 'serve'
  readonly haltedCall: 'error' | 'empty'
  readonly signatureWords: 'padded' | 'stripped'
  readonly listening: 'actual' | 'always'
  readonly traces: 'standard' | 'reference'
  readonly filterPoll: 'read' | 'mine'
  readonly timeOffset: 'lasting' | 'block'
  readonly stateOverride: 'serve' | 'refuse'
  readonly waiting: 'explained' | 'reference'
  readonly clientVersion: 'tools' | 'own'
  readonly absentBlock: 'latest' | 'refuse'
}

const document: Choices = {
  errorStatus: '200',
  errorText: 'helpful',
  failedEstimate: 'estimate',
  estimateCap: 'block',
  pendingSelector: 'refuse',
  haltedCall: 'error',
  signatureWords: 'padded',
  listening: 'actual',
  traces: 'standard',
  filterPoll: 'read',
  timeOffset: 'lasting',
  stateOverride: 'serve',
  waiting: 'explained',
  clientVersion: 'own',
  absentBlock: 'refuse',
}

/** On regtest and devnet, beside `document`: what Hardhat and Foundry expect and no other client depends on. */
const development: Partial<Choices> = { clientVersion: 'tools', absentBlock: 'latest' }

/** With `tools`, beside `development`: for whole test suites, against the API document. */
const tools: Partial<Choices> = { failedEstimate: 'codeError' }

const reference: Choices = {
  errorStatus: '400',
  errorText: 'plain',
  failedEstimate: 'error',
  estimateCap: 'pool',
  pendingSelector: 'serve',
  haltedCall: 'empty',
  signatureWords: 'stripped',
  listening: 'always',
  traces: 'reference',
  filterPoll: 'mine',
  timeOffset: 'block',
  stateOverride: 'refuse',
  waiting: 'reference',
  clientVersion: 'own',
  absentBlock: 'refuse',
}

export function decidedChoices(config: Config): Choices {
  const given = Object.entries(config.choices).filter(([, value]) => value !== '')
  return { ...presets(config), ...Object.fromEntries(given) }
}

function presets(config: Config): Choices {
  if (config.compat === 'reference') return reference
  if (!isDevelopment(config)) return document
  return { ...document, ...development, ...(config.tools ? tools : {}) }
}

/** How the REMASC transaction, the last of each block, is shown. */
export type ShownRemasc = 'listed' | 'unlisted' | 'hidden'

/** `unlisted`: block objects leave it out, as in the reference; `hidden`: counts and look-ups by index, too. */
export function shownRemasc(config: Config): ShownRemasc {
  if (!config.rpc.skipRemasc && !config.tools) return 'listed'
  return config.compat === 'reference' ? 'unlisted' : 'hidden'
}

/** Settings for tools where they would mislead: no public network and no imitation of the reference calls itself anvil. */
export function toolsProblems(config: Config): string[] {
  const place = isDevelopment(config)
    ? config.compat === 'reference'
      ? 'compat = "reference"'
      : undefined
    : config.network
  if (place === undefined) return []
  return [
    ...(config.tools ? [`tools: is for regtest and devnet with compat = "document", not for ${place}`] : []),
    ...(config.choices.clientVersion === 'tools'
      ? [`choices.clientVersion: expected own, got "tools" with ${place}`]
      : []),
  ]
}
