import { Type } from 'typebox'
import type { Kind } from '../kind.ts'
import { headerBlock, numberedBlock } from './block.ts'
import { blockHash } from './hash.ts'

const heightTextLimit = 20

/** Block id of a trace: tag or number; also accepts a hash. */
export const tracedBlock: Kind<string> = {
  name: 'block',
  expects: `${numberedBlock.expects}, or a block hash`,
  schema: numberedBlock.schema,
  hasDepthTags: true,
  read: headerBlock.read,
}

/** Like `tracedBlock`, but a text that is too long for a height must be a hash, with or without `0x`. */
export const tracedBlockOrHash: Kind<string> = {
  name: 'block',
  expects: tracedBlock.expects,
  schema: Type.Union([tracedBlock.schema, blockHash.schema]),
  hasDepthTags: true,
  read(value) {
    const isHash = typeof value === 'string' && value.length >= heightTextLimit
    return isHash ? blockHash.read(value) : tracedBlock.read(value)
  },
}
