import { Type } from 'typebox'
import type { Kind } from '../kind.ts'
import { stateBlock } from './block.ts'
import { wholeNumber } from './wholeNumber.ts'

// Parameters of ots_*: Otterscan sends block numbers as JSON numbers.

/** Block id of a state read, also as a JSON number. */
export const numberOrBlock: Kind<string> = {
  name: 'block',
  expects: `a number, ${stateBlock.expects}`,
  schema: Type.Union([Type.Integer({ minimum: 0 }), stateBlock.schema]),
  hasDepthTags: true,
  read(value) {
    const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    return isNumber ? `0x${value.toString(16)}` : stateBlock.read(value)
  },
}

/** Number of a block beside which a search begins. */
export const searchedFrom = wholeNumber('blockNumber', Number.MAX_SAFE_INTEGER)
export const pageNumber = wholeNumber('pageNumber', 0xffffffff)
/** Transactions of a page: at most those of a page of Otterscan. */
export const pageSize = wholeNumber('pageSize', 25)
