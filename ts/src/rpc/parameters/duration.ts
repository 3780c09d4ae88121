import { Type } from 'typebox'
import { type Kind, quoted, refuse, shortened } from '../kind.ts'

/** Half an hour. */
const usualMs = 30 * 60 * 1000

/** Duration of an unlocked account in milliseconds; null or empty text: half an hour. */
export const duration: Kind<number> = {
  name: 'duration',
  expects: 'milliseconds, 0x and hex digits',
  schema: Type.Union([Type.Null(), Type.String({ pattern: '^(|0x[0-9a-fA-F]+)$' })]),
  read(value) {
    if (value === null || value === '') return usualMs
    const text = quoted(value)
    if (text.length > 66) return refuse(this, `Invalid argument: ${shortened(text)}`)
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(text)) {
      return refuse(this, `Invalid argument "${text}": param should be a hex value string.`)
    }
    const read = text === '0x' ? Number.NaN : Number(text)
    return Number.isSafeInteger(read) ? read : refuse(this, 'Invalid duration param: value must be a valid hex number.')
  },
}
