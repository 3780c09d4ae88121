import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, refuse } from '../kind.ts'

const schema = Type.String({ pattern: '^0x[0-9a-fA-F]*$' })
const check = Compile(schema)

/** DATA of any length. The prefix may be missing. An odd number of digits is refused: padding would guess which digit is lost. */
export const bytes: Kind<string> = {
  name: 'data',
  expects: 'bytes, 0x and an even number of hex digits',
  schema,
  read(value) {
    if (check.Check(value) && value.length % 2 === 0) return value
    if (typeof value === 'string' && value.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(value)) return `0x${value}`
    return refuse(this, 'Invalid data format: invalid hex value.')
  },
}

/** DATA whose prefix is obligatory (web3_sha3). */
export const prefixedBytes: Kind<string> = {
  name: 'data',
  expects: bytes.expects,
  schema,
  read(value) {
    if (check.Check(value) && value.length % 2 === 0) return value
    return refuse(this, "Parameter must be hexadecimal encoded with the '0x' prefix.")
  },
}
