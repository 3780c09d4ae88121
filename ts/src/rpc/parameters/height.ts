import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** A height: 0x or decimal text. Tags are refused. */
export const height: Kind<string> = {
  name: 'number',
  expects: 'a block number, 0x and hex digits, or decimal text',
  schema: Type.String({ pattern: '^(0x[0-9a-fA-F]{1,64}|[0-9]{1,66})$' }),
  read(value) {
    const text = quoted(value)
    if (value !== null && /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,66})$/.test(text)) return text
    return refuse(this, `invalid blocknumber ${text}`)
  },
}
