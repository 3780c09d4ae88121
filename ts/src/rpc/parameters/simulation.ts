import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'
import { callObject } from './callObject.ts'
import { flag } from './flag.ts'
import { blockOverrides, objectOf, readBlockOverrides, readStateOverrides, stateOverrides } from './overrides.ts'

const flags = ['traceTransfers', 'validation', 'returnFullTransactions'].map(flag)
const member = { name: 'simulation.blockStateCalls', expects: 'objects with blockOverrides, stateOverrides and calls' }

/** Parameter of eth_simulateV1. Crosses to the addon as JSON: in canonical form, a large one as it was sent. */
export const simulation: Kind<string | Buffer> = {
  name: 'simulation',
  expects: 'an object with blockStateCalls, traceTransfers, validation, returnFullTransactions',
  schema: Type.Object({
    blockStateCalls: Type.Array(
      Type.Object({
        blockOverrides: Type.Optional(blockOverrides.schema),
        stateOverrides: Type.Optional(stateOverrides.schema),
        calls: Type.Optional(Type.Array(callObject.schema)),
      }),
    ),
    traceTransfers: Type.Optional(Type.Boolean()),
    validation: Type.Optional(Type.Boolean()),
    returnFullTransactions: Type.Optional(Type.Boolean()),
  }),
  read(value) {
    const sent = objectOf(this, value)
    const given = flags.filter(({ name }) => sent[name] !== undefined && sent[name] !== null)
    return JSON.stringify({
      blockStateCalls: arrayOf(sent.blockStateCalls).map(readBlock),
      ...Object.fromEntries(given.map((kind) => [kind.name, kind.read(sent[kind.name])])),
    })
  },
  readLarge: ({ bytes }) => bytes,
}

function readBlock(value: unknown): object {
  const { blockOverrides, stateOverrides, calls } = objectOf(member, value)
  return {
    ...(blockOverrides == null ? {} : { blockOverrides: readBlockOverrides(blockOverrides) }),
    ...(stateOverrides == null ? {} : { stateOverrides: readStateOverrides(stateOverrides) }),
    ...(calls == null ? {} : { calls: arrayOf(calls).map((call) => callObject.read(call)) }),
  }
}

function arrayOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : refuse(member, 'Invalid simulation: an array is expected')
}
