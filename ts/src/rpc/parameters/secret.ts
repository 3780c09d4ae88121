import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** A passphrase or the like: any text, which no message repeats. `missing` is the refusal of null. */
export function secret(name: string, missing: string): Kind<string> {
  return {
    name,
    expects: 'text',
    schema: Type.String(),
    read(value) {
      if (typeof value === 'string') return value
      return refuse(this, value === null ? missing : `Invalid ${name}: must be text.`)
    },
  }
}

export const passphrase = secret('passphrase', 'Passphrase is null')
