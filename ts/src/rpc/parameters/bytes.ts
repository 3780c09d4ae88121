import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CoreText } from '../envelope.ts'
import { type Kind, memberText, refuse, refuseLate } from '../kind.ts'

const schema = Type.String({ pattern: '^0x[0-9a-fA-F]*$' })
const check = Compile(schema)

/** DATA of any length. The prefix may be missing. An odd number of digits is rejected, because padding would guess the missing digit. */
export const bytes: Kind<string> = {
  name: 'data',
  expects: 'bytes, 0x and an even number of hex digits',
  schema,
  read(value) {
    if (check.Check(value) && value.length % 2 === 0) return value
    if (typeof value === 'string' && value.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(value)) return `0x${value}`
    // The reference pads an odd digit and treats numbers as text.
    const isTaken = value !== null && /^(0x)?[0-9a-fA-F]*$/.test(memberText(value))
    const message = 'Invalid data format: invalid hex value.'
    return isTaken ? refuseLate(this, message, 'only here') : refuse(this, message)
  },
}

/** DATA; an odd number of digits is padded on the left (eth_sign: the signature shows the signed bytes). */
export const paddedBytes: Kind<string> = {
  ...bytes,
  read(value) {
    if (typeof value !== 'string' || !/^(0x)?[0-9a-fA-F]*$/.test(value)) return bytes.read.call(this, value)
    const digits = value.replace(/^0x/, '')
    return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
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

/** Kind of any size: a large value crosses as a part of the body, and the core checks its digits. */
export function ofAnySize(kind: Kind<string>): Kind<CoreText> {
  return {
    name: kind.name,
    expects: kind.expects,
    schema: kind.schema,
    read: kind.read,
    readLarge(text) {
      const { content } = text
      // With its quotation marks.
      return content === undefined || text.length % 2 !== 0 ? kind.read(null) : content
    },
  }
}
