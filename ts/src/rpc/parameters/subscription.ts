import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'
import { checkKept, type LogCriteria, parsedToKeep, readCriteria } from './logFilter.ts'

const kinds = ['newHeads', 'logs', 'newPendingTransactions', 'newWork', 'syncing'] as const

/** Subject of a subscription. */
export type Wanted =
  | { readonly kind: 'newHeads' }
  | { readonly kind: 'logs'; readonly criteria: LogCriteria }
  | { readonly kind: 'newPendingTransactions'; readonly isFull: boolean }
  | { readonly kind: 'newWork' }
  | { readonly kind: 'syncing' }

/** First parameter of eth_subscribe. */
export const subscriptionKind: Kind<(typeof kinds)[number]> = {
  name: 'kind',
  expects: kinds.join(', '),
  schema: Type.Enum([...kinds]),
  read(value) {
    const kind = kinds.find((one) => one === value)
    return kind ?? refuse(this, `Invalid subscription ${quoted(value)}`)
  },
}

/** Second parameter of eth_subscribe. Its form depends on the first: `readWanted` reads it. */
export const subscriptionOptions: Kind<unknown> = {
  name: 'options',
  expects: 'an object; for newPendingTransactions also a boolean',
  schema: Type.Union([Type.Object({}), Type.Boolean()]),
  read: (value) => value,
  readLarge: parsedToKeep,
}

/** Reads both parameters of eth_subscribe. Unknown members of the options, such as `fromBlock`, are ignored. */
export function readWanted(kind: (typeof kinds)[number], options: unknown): Wanted {
  if (kind === 'newPendingTransactions' && typeof options === 'boolean') return { kind, isFull: options }
  const members = membersOf(options)
  if (kind === 'logs') {
    const criteria = readCriteria('options', members)
    checkKept(criteria)
    return { kind, criteria }
  }
  return kind === 'newPendingTransactions' ? { kind, isFull: false } : { kind }
}

function membersOf(options: unknown): Record<string, unknown> {
  if (options === undefined) return {}
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) {
    return options as Record<string, unknown>
  }
  return refuse(subscriptionOptions, 'Invalid subscription options')
}
