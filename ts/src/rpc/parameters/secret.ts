import { Type } from 'typebox'
import { type Kind, refuse, refuseLate } from '../kind.ts'

const loneSurrogate = /\p{Surrogate}/u

/** Secret text such as a passphrase; no error repeats it. `missing` is the error for null. */
export function secret(name: string, missing: string): Kind<string> {
  return {
    name,
    expects: 'text',
    schema: Type.String(),
    read(value) {
      if (value === null) return refuse(this, missing)
      if (typeof value !== 'string') return refuseLate(this, `Invalid ${name}: must be text.`, 'only here')
      // A lone surrogate has no UTF-8 form, and the error of the encryption would contain the secret.
      return loneSurrogate.test(value) ? refuse(this, `Invalid ${name}: must be well-formed Unicode.`) : value
    },
  }
}

export const passphrase = secret('passphrase', 'Passphrase is null')
