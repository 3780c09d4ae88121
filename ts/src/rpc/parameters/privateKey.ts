import { Type } from 'typebox'
import { type Kind, quoted, refuse, refuseLate, shortened } from '../kind.ts'

/** Private key. The prefix may be missing. The core checks that it is in the range of the curve. */
export const privateKey: Kind<string> = {
  name: 'key',
  expects: '32 bytes, 0x and 64 hex digits',
  schema: Type.String({ pattern: '^(0x)?[0-9a-fA-F]{64}$' }),
  read(value) {
    if (value === null) return refuse(this, 'Key cannot be null.')
    const text = quoted(value)
    const digits = text.replace(/^0x/, '')
    if (/^[0-9a-fA-F]{64}$/.test(digits)) return `0x${digits}`
    // Hex digits may be most of a key, so the error does not repeat them.
    if (/^[0-9a-fA-F]*$/.test(digits)) return refuseLate(this, 'Invalid key: it must have 32 bytes', 'only here')
    return refuse(this, `Invalid param ${shortened(text, 8)}: value must be a valid hex.`)
  },
}
