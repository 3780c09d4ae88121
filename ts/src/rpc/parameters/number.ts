import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, quoted, refuse, refuseLate, shortened } from '../kind.ts'
import { hexText } from './hexText.ts'

const schema = Type.String({ pattern: '^0x[0-9a-fA-F]{0,64}$' })
const check = Compile(schema)
/** Usual form of a storage slot. */
const word = hexText(64)

/** A number of at most 256 bits: 0x hex, decimal text or a JSON integer. Read as 0x hex; `0x` alone is zero. */
export function numberKind(name: string): Kind<string> {
  return {
    name,
    expects: 'a number, 0x and hex digits, or decimal',
    schema,
    read(value) {
      if (typeof value === 'string' && word.test(value)) return value
      if (check.Check(value)) return value.length === 2 ? '0x0' : value
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return `0x${value.toString(16)}`
      const text = quoted(value)
      if (value === null || value === undefined) return refuse(this, 'Invalid param: null')
      if (text.length > 66) return refuse(this, `Invalid param: ${shortened(text)}`)
      if (typeof value === 'string' && /^[0-9]+$/.test(text)) return `0x${BigInt(text).toString(16)}`
      if (/^[0-9a-fA-F]*$/.test(text)) {
        return refuseLate(
          this,
          'Number values should not contain letters or hex values should start with 0x.',
          'in use',
        )
      }
      // The reference takes signs.
      if (/^[-+][0-9]+$/.test(text)) {
        return refuseLate(this, `Invalid param ${text}: value must be a valid hex or string number.`, 'only here')
      }
      return refuse(this, `Invalid param ${text}: value must be a valid hex or string number.`)
    },
  }
}

export const storagePosition = numberKind('position')
