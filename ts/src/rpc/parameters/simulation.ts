import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { callObject } from './callObject.ts'
import { blockOverrides, stateOverrides } from './overrides.ts'

/** Parameter of eth_simulateV1. `crates/answers/src/simulation/request.rs` reads it. */
export const simulation = objectText(
  'simulation',
  'an object with blockStateCalls, traceTransfers, validation, returnFullTransactions',
  Type.Object({
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
)
