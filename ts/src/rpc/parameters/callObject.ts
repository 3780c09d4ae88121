import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { address } from './address.ts'
import { bytes } from './bytes.ts'
import { numberKind } from './number.ts'

// Calls and transactions to sign. `crates/answers/src/call_object.rs` reads them.

const number = numberKind('number')

const schema = Type.Object({
  from: Type.Optional(address.schema),
  to: Type.Optional(address.schema),
  gas: Type.Optional(number.schema),
  gasPrice: Type.Optional(number.schema),
  value: Type.Optional(number.schema),
  nonce: Type.Optional(number.schema),
  data: Type.Optional(bytes.schema),
  input: Type.Optional(bytes.schema),
})

/** First parameter of eth_call and eth_estimateGas. */
export const callObject = objectText('call', 'an object with from, to, gas, gasPrice, value, data', schema)

/** Parameter of eth_sendTransaction. */
export const transactionObject = objectText(
  'transaction',
  'an object with from, to, gas, gasPrice, value, data, nonce',
  schema,
)
