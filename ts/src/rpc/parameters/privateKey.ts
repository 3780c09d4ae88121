import { Type } from 'typebox'
import { type Kind, refuse, shortened } from '../kind.ts'

/** A private key. The prefix may be missing. Whether the curve has it is the core's business. */
export const privateKey: Kind<string> = {
  name: 'key',
  expects: '32 bytes, 0x and 64 hex digits',
  schema: Type.String({ pattern: '^(0x)?[0-9a-fA-F]{64}$' }),
  read(value) {
    if (value === null) return refuse(this, 'Key cannot be null.')
    if (typeof value !== 'string') return refuse(this, 'Invalid key: must be text.')
    const digits = value.replace(/^0x/, '')
    if (/^[0-9a-fA-F]{64}$/.test(digits)) return `0x${digits}`
    // What is all hex may be most of a key and is not repeated.
    const isHex = /^[0-9a-fA-F]*$/.test(digits)
    return refuse(
      this,
      isHex ? 'Invalid key: it must have 32 bytes' : `Invalid param ${shortened(value, 8)}: value must be a valid hex.`,
    )
  },
}
