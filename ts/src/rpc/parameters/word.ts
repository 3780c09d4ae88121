import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** DATA of exactly `length` bytes. */
export function word(name: string, length: number): Kind<string> {
  const pattern = `^0x[0-9a-fA-F]{${2 * length}}$`
  const expression = new RegExp(pattern)
  return {
    name,
    expects: `${length} bytes, 0x and ${2 * length} hex digits`,
    schema: Type.String({ pattern }),
    read(value) {
      return typeof value === 'string' && expression.test(value) ? value : refuse(this, `Invalid ${name}.`)
    },
  }
}
