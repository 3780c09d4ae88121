import type { Config } from './schema.ts'

/** The decided choices: what `compat` leaves, and what the file says for single ones. */
export interface Choices {
  readonly errorStatus: '200' | '400'
  readonly errorText: 'helpful' | 'plain'
  readonly failedEstimate: 'estimate' | 'error'
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
}

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
}

export function decidedChoices(config: Config): Choices {
  const presets = config.compat === 'document' ? document : reference
  const given = Object.entries(config.choices).filter(([, value]) => value !== '')
  return { ...presets, ...Object.fromEntries(given) }
}
