import { Type } from 'typebox'
import { type Kind, refuseLate } from '../kind.ts'

/** A boolean. */
export function flag(name: string): Kind<boolean> {
  return {
    name,
    expects: 'true or false',
    schema: Type.Boolean(),
    read(value) {
      return typeof value === 'boolean' ? value : refuseLate(this, 'Invalid input: must be a boolean', 'only here')
    },
  }
}
