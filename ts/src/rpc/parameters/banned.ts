import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** Network address or block of addresses. The core validates it: this machine cannot be banned. */
export const banned: Kind<string> = {
  name: 'address',
  expects: 'an IPv4 or IPv6 address, or a block like 203.0.113.0/24',
  schema: Type.String({ minLength: 2, maxLength: 64 }),
  read(value) {
    if (typeof value === 'string' && value.length <= 64) return value
    return refuse(this, `invalid banned address ${quoted(value).slice(0, 64)}`)
  },
}
