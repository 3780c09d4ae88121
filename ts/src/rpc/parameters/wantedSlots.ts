import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { storagePosition } from './number.ts'

/** First parameter of eth_getStorageValues. `crates/answers/src/eth/get_storage_values.rs` reads it. */
export const wantedSlots = objectText(
  'slots',
  'an object: address -> [slot]',
  Type.Record(Type.String(), Type.Array(storagePosition.schema)),
)
