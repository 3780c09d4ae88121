import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** URL of another node. */
export const httpUrl: Kind<string> = {
  name: 'url',
  expects: 'an http or https URL',
  schema: Type.String({ pattern: '^https?://[^\\s]+$' }),
  read(value) {
    return isHttpUrl(value) ? value : refuse(this, 'Invalid url: not an http or https URL')
  },
}

export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/\S+$/.test(value)
}

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
