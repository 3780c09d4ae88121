import { type TProperties, Type } from 'typebox'
import { type Kind, readMember, refuse } from '../kind.ts'
import { address } from './address.ts'
import { bytes } from './bytes.ts'
import { numberKind } from './number.ts'

// Overrides cross to the addon as JSON, large ones as they were sent. Unknown members are dropped, null counts as absent.

type Members = Readonly<Record<string, Kind<string>>>

const account: Members = {
  balance: numberKind('balance'),
  nonce: numberKind('nonce'),
  code: { ...bytes, name: 'code' },
  movePrecompileToAddress: { ...address, name: 'movePrecompileToAddress' },
}
const slot = numberKind('slot')
const word = numberKind('word')
const slots = Type.Optional(Type.Record(Type.String(), word.schema))

const block: Members = {
  number: numberKind('number'),
  time: numberKind('time'),
  gasLimit: numberKind('gasLimit'),
  feeRecipient: { ...address, name: 'feeRecipient' },
  coinbase: { ...address, name: 'coinbase' },
  difficulty: numberKind('difficulty'),
  prevRandao: numberKind('prevRandao'),
  baseFeePerGas: numberKind('baseFeePerGas'),
}

/** State overrides of a call: address -> balance, nonce, code, state or stateDiff, movePrecompileToAddress. */
export const stateOverrides: Kind<string | Buffer> = {
  name: 'stateOverrides',
  expects: 'an object: address -> {balance, nonce, code, state, stateDiff, movePrecompileToAddress}',
  schema: Type.Record(Type.String(), Type.Object({ ...described(account), state: slots, stateDiff: slots })),
  read(value) {
    return JSON.stringify(readStateOverrides(value))
  },
  readLarge: ({ bytes }) => bytes,
}

/** Block overrides of a call. */
export const blockOverrides: Kind<string | Buffer> = {
  name: 'blockOverrides',
  expects: 'an object with number, time, gasLimit, feeRecipient, difficulty, prevRandao, baseFeePerGas',
  schema: Type.Object(described(block)),
  read(value) {
    return JSON.stringify(readBlockOverrides(value))
  },
  readLarge: ({ bytes }) => bytes,
}

export function readStateOverrides(value: unknown): Record<string, unknown> {
  const kind = stateOverrides
  const accounts = Object.entries(objectOf(kind, value)).map(([who, sent]) => {
    const members = objectOf(kind, sent)
    const read = readMembers(kind.name, account, members)
    for (const name of ['state', 'stateDiff']) {
      const slots = members[name]
      if (slots === undefined || slots === null) continue
      const written = Object.entries(objectOf({ ...kind, name: `${kind.name}.${name}` }, slots)).map(
        ([position, content]) => [readMember(kind.name, slot, position), readMember(kind.name, word, content)],
      )
      read[name] = Object.fromEntries(written)
    }
    return [readMember(kind.name, address, who), read] as const
  })
  return Object.fromEntries(accounts)
}

export function readBlockOverrides(value: unknown): Record<string, unknown> {
  return readMembers(blockOverrides.name, block, objectOf(blockOverrides, value))
}

function described(kinds: Members): TProperties {
  return Object.fromEntries(Object.entries(kinds).map(([name, { schema }]) => [name, Type.Optional(schema)]))
}

function readMembers(owner: string, kinds: Members, members: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(kinds).filter(([name]) => members[name] !== undefined && members[name] !== null)
  return Object.fromEntries(given.map(([name, kind]) => [name, readMember(owner, kind, members[name])]))
}

/** Returns an object; throws the error of a kind for other values. */
export function objectOf(kind: { name: string; expects: string }, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  return refuse(kind, `Invalid ${kind.name}: must be an object`)
}
