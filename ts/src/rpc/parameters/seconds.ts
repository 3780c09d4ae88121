import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** A time span: decimal or 0x text, or a JSON integer. */
export const seconds: Kind<number> = {
  name: 'seconds',
  expects: 'a number of seconds, 0 to 4294967295',
  schema: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^(0x[0-9a-fA-F]+|[0-9]+)$' })]),
  read(value) {
    const text = quoted(value)
    const read = /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(text) ? Number(text) : Number.NaN
    return read <= 0xffffffff ? read : refuse(this, `invalid number of seconds ${text}`)
  },
}
