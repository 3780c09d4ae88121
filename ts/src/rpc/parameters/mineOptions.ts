import { Type } from 'typebox'
import { type Kind, readMember, refuse } from '../kind.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Number of blocks in one request; the time limit may end it earlier. */
export const blockCount = wholeNumber('blocks', 1_000_000)

/** Timestamp of a block, in seconds since 1970. */
export const timestamp = wholeNumber('timestamp', 0xffffffff)

const members = Type.Object({
  blocks: Type.Optional(blockCount.schema),
  timestamp: Type.Optional(timestamp.schema),
})

/** Parameter of evm_mine: the timestamp of the block, or an object. */
export const mineOptions: Kind<{ blocks?: number; timestamp?: number }> = {
  name: 'options',
  expects: 'a timestamp, or an object with blocks and timestamp',
  schema: Type.Union([timestamp.schema, members]),
  read(value) {
    if (typeof value !== 'object' || value === null) return { timestamp: readMember(this.name, timestamp, value) }
    if (Array.isArray(value)) return refuse(this, 'Invalid options: [')
    const sent = value as { blocks?: unknown; timestamp?: unknown }
    return {
      ...(sent.blocks == null ? {} : { blocks: readMember(this.name, blockCount, sent.blocks) }),
      ...(sent.timestamp == null ? {} : { timestamp: readMember(this.name, timestamp, sent.timestamp) }),
    }
  },
}
