import { Type } from 'typebox'
import { type Kind, refuse, refuseLate } from '../kind.ts'

const loneSurrogate = /\p{Surrogate}/u

/** A passphrase or the like: any text, which no message repeats. `missing` is the refusal of null. */
export function secret(name: string, missing: string): Kind<string> {
  return {
    name,
    expects: 'text',
    schema: Type.String(),
    read(value) {
      if (value === null) return refuse(this, missing)
      if (typeof value !== 'string') return refuseLate(this, `Invalid ${name}: must be text.`, 'only here')
      // Half a character has no bytes, and who is asked to encrypt with it says so with the secret in its words.
      return loneSurrogate.test(value) ? refuse(this, `Invalid ${name}: must be well-formed Unicode.`) : value
    },
  }
}

export const passphrase = secret('passphrase', 'Passphrase is null')
