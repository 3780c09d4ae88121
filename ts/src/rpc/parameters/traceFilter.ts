import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { address } from './address.ts'
import { numberedBlock } from './block.ts'

const addresses = Type.Union([address.schema, Type.Array(address.schema)])
const whole = Type.Integer({ minimum: 0 })

/** Parameter of trace_filter. `crates/answers/src/trace/filter.rs` reads it. */
export const traceFilter = objectText(
  'filter',
  'an object with fromBlock, toBlock, fromAddress, toAddress, after, count',
  Type.Object(
    {
      fromBlock: Type.Optional(numberedBlock.schema),
      toBlock: Type.Optional(numberedBlock.schema),
      fromAddress: Type.Optional(addresses),
      toAddress: Type.Optional(addresses),
      after: Type.Optional(whole),
      count: Type.Optional(whole),
    },
    { additionalProperties: false },
  ),
)
