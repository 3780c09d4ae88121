import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, memberText, refuse, refuseLate } from '../kind.ts'
import { hexText } from './hexText.ts'

const schema = Type.String({ pattern: '^(0x)?[0-9a-fA-F]{40}$' })
const check = Compile(schema)
const usual = hexText(40)

/** DATA(20). The prefix may be missing, checksums are not verified. */
export const address: Kind<string> = {
  name: 'address',
  expects: '20 bytes, 0x and 40 hex digits',
  schema,
  read(value) {
    if (typeof value === 'string' && usual.test(value)) return value
    if (check.Check(value)) return value.length === 42 ? value : `0x${value}`
    // The reference pads a missing digit.
    if (typeof value === 'string' && /^0x[0-9a-fA-F]{39}$/.test(value)) {
      return refuseLate(this, 'Invalid address format: invalid hex value.', 'only here')
    }
    const hasLength = typeof value === 'string' && value.length >= 40 && value.length <= 42
    return refuse(
      this,
      hasLength ? 'Invalid address format: invalid hex value.' : 'Invalid address: null, empty or invalid hex value.',
    )
  },
}

/** Address with the error texts of the reference for debug_accountTransactionQuota. */
export const quotaAddress: Kind<string> = {
  ...address,
  read(value) {
    if (check.Check(value)) return value.length === 42 ? value : `0x${value}`
    const digits = memberText(value).replaceAll('0x', '')
    return refuse(this, `invalid argument 0: hex string has length ${digits.length}, want 40 for RSK address`)
  },
}
