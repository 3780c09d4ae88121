import { Type } from 'typebox'
import { type Kind, quoted, refuse, shortened } from '../kind.ts'

/** A number that fits a JSON number: 0x hex, decimal text or a JSON integer. */
export function wholeNumber(name: string, maximum: number): Kind<number> {
  return {
    name,
    expects: `a number, 0 to ${maximum}`,
    schema: Type.Union([Type.Integer({ minimum: 0, maximum }), Type.String({ pattern: '^(0x[0-9a-fA-F]+|[0-9]+)$' })]),
    read(value) {
      const text = quoted(value)
      const read = /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(text) ? Number(text) : Number.NaN
      return read <= maximum ? read : refuse(this, `Invalid ${name}: ${shortened(text)}`)
    },
  }
}
