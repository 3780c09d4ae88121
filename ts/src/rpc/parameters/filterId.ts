import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** Id of an installed filter, in lower case. Ids that cannot exist are accepted and not found. */
export const filterId: Kind<string> = {
  name: 'filterId',
  expects: '0x and hex digits',
  schema: Type.String({ pattern: '^0x[0-9a-fA-F]+$' }),
  read(value) {
    // The reference skips blanks among hex digits.
    const text = quoted(value).replaceAll(/\s/g, '')
    if (value !== null && /^(0x)?[0-9a-fA-F]*$/.test(text)) return text.toLowerCase()
    return refuse(this, 'Invalid data format: invalid hex value.')
  },
}
