import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { bytes } from './bytes.ts'
import { transactionObject } from './callObject.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Number of blocks below the head that are replaced or deleted. */
export const reorganizationDepth = wholeNumber('depth', 1_000_000)

/** Transactions of new blocks. `crates/answers/src/hardhat/reorg.rs` reads them. */
export const blockTransactions = objectText(
  'transactions',
  'an array of [transaction, position of its block]',
  Type.Array(Type.Tuple([Type.Union([bytes.schema, transactionObject.schema]), Type.Integer({ minimum: 0 })])),
)
