import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** Text that the core reads. */
export function text(name: string, expects: string): Kind<string> {
  return {
    name,
    expects,
    schema: Type.String(),
    read(value) {
      return typeof value === 'string' ? value : refuse(this, `Invalid ${name}: must be text.`)
    },
  }
}
