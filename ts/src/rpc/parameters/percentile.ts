import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** Percentage as a JSON number. */
export const percentile: Kind<number> = {
  name: 'percentile',
  expects: 'a number from 0 to 100',
  schema: Type.Number({ minimum: 0, maximum: 100 }),
  read(value) {
    const isShare = typeof value === 'number' && value >= 0 && value <= 100
    return isShare ? value : refuse(this, 'Invalid percentile.')
  },
}
