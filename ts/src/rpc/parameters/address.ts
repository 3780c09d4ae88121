import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, refuse } from '../kind.ts'

const schema = Type.String({ pattern: '^(0x)?[0-9a-fA-F]{40}$' })
const check = Compile(schema)

/** DATA(20). The prefix may be missing, checksums are not verified. */
export const address: Kind<string> = {
  name: 'address',
  expects: '20 bytes, 0x and 40 hex digits',
  schema,
  read(value) {
    if (check.Check(value)) return value.length === 42 ? value : `0x${value}`
    const hasLength = typeof value === 'string' && (value.length === 40 || /^0x.{40}$/i.test(value))
    return refuse(
      this,
      hasLength ? 'Invalid address format: invalid hex value.' : 'Invalid address: null, empty or invalid hex value.',
    )
  },
}
