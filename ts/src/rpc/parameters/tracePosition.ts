import { Type } from 'typebox'
import { type Kind, named, refuse, refuseLate } from '../kind.ts'
import { transactionHash } from './hash.ts'
import { listIndex } from './listIndex.ts'

/** Transaction of trace_get. */
export const tracedTransaction: Kind<string> = {
  ...named('transactionHash', transactionHash),
  looksForNull: true,
  read(value) {
    if (value === null || value === '') return refuse(this, "'transactionHash' cannot be null or empty")
    try {
      return transactionHash.read(value)
    } catch (error) {
      return refuseLate(this, (error as Error).message, 'in use')
    }
  },
}

/** Position of trace_get: 0x hex, or an array of one. */
export const tracePosition: Kind<number> = {
  name: 'positions',
  expects: 'an array with one index, 0x and hex digits',
  schema: Type.Array(listIndex.schema, { minItems: 1, maxItems: 1 }),
  looksForNull: true,
  read(value) {
    const positions: unknown[] = Array.isArray(value) ? value : [value]
    if (value === null || value === '' || positions.length === 0) {
      return refuse(this, "'positions' cannot be null or empty")
    }
    if (positions.length > 1) return refuse(this, "'positions' accepts only one index")
    return named('positions', listIndex).read(positions[0])
  },
}
