import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { address } from './address.ts'
import { bytes } from './bytes.ts'
import { numberKind } from './number.ts'

// Overrides of a call. `crates/answers/src/overrides.rs` reads them.

const number = Type.Optional(numberKind('number').schema)
const account = Type.Optional(address.schema)
const slots = Type.Optional(Type.Record(Type.String(), numberKind('word').schema))

/** State overrides of a call: address -> balance, nonce, code, state or stateDiff, movePrecompileToAddress. */
export const stateOverrides = objectText(
  'stateOverrides',
  'an object: address -> {balance, nonce, code, state, stateDiff, movePrecompileToAddress}',
  Type.Record(
    Type.String(),
    Type.Object({
      balance: number,
      nonce: number,
      code: Type.Optional(bytes.schema),
      movePrecompileToAddress: account,
      state: slots,
      stateDiff: slots,
    }),
  ),
)

/** Block overrides of a call. */
export const blockOverrides = objectText(
  'blockOverrides',
  'an object with number, time, gasLimit, feeRecipient, difficulty, prevRandao, baseFeePerGas',
  Type.Object({
    number,
    time: number,
    gasLimit: number,
    feeRecipient: account,
    coinbase: account,
    difficulty: number,
    prevRandao: number,
    baseFeePerGas: number,
  }),
)
