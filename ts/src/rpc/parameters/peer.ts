import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** Peer by its address or node id. */
export const peer: Kind<string> = {
  name: 'peer',
  expects: 'an IPv4 or IPv6 address, or a node id of 128 hex digits',
  schema: Type.String({ minLength: 2, maxLength: 128 }),
  read(value) {
    if (typeof value === 'string' && value.length <= 128) return value
    return refuse(this, `invalid peer ${quoted(value).slice(0, 128)}`)
  },
}
