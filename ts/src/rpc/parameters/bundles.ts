import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { address } from './address.ts'
import { numberedBlock } from './block.ts'
import { callObject } from './callObject.ts'
import { numberKind } from './number.ts'

// Parameters of eth_callMany. `crates/answers/src/eth/call_many.rs` reads them.

const number = Type.Optional(numberKind('number').schema)

/** Bundles of calls, each in a block. */
export const bundles = objectText(
  'bundles',
  'an array of {transactions, blockOverride}',
  Type.Array(
    Type.Object({
      transactions: Type.Array(callObject.schema),
      blockOverride: Type.Optional(
        Type.Object({
          blockNumber: number,
          timestamp: number,
          gasLimit: number,
          coinbase: Type.Optional(address.schema),
          difficulty: number,
          baseFee: number,
        }),
      ),
    }),
  ),
)

/** State on which the first call executes. */
export const callContext = objectText(
  'context',
  'an object with blockNumber, transactionIndex',
  Type.Object({
    blockNumber: Type.Optional(numberedBlock.schema),
    transactionIndex: Type.Optional(Type.Union([Type.Integer({ minimum: -1 }), Type.String()])),
  }),
)
