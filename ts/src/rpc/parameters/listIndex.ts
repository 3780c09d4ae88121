import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, quoted, refuse, shortened } from '../kind.ts'

const schema = Type.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' })
const check = Compile(schema)

/** Position in a list: 0x hex of at most 31 bits. */
export const listIndex: Kind<number> = {
  name: 'index',
  expects: '0x and hex digits, at most 0x7fffffff',
  schema,
  read(value) {
    if (check.Check(value)) {
      const index = Number.parseInt(value, 16)
      if (index <= 0x7fffffff) return index
      return refuse(this, 'Invalid index param: value must be a valid hex number.')
    }
    if (value === '' || value === '0x') {
      return refuse(this, 'Invalid index param: value must be a valid hex number.')
    }
    if (value === null) return refuse(this, 'index is null')
    const text = quoted(value)
    if (text.length > 66) return refuse(this, `Invalid argument: ${shortened(text)}`)
    return refuse(this, `Invalid argument "${text}": param should be a hex value string.`)
  },
}
