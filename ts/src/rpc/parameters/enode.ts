import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** Node by its URL. The core validates it. */
export const enode: Kind<string> = {
  name: 'enode',
  expects: 'enode://ID@HOST:PORT with an id of 128 hex digits',
  schema: Type.String({ minLength: 1, maxLength: 512 }),
  read(value) {
    if (typeof value === 'string' && value.length <= 512) return value
    return refuse(this, `invalid enode ${quoted(value).slice(0, 128)}`)
  },
}
