import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** The id that evm_snapshot returned. Ids that cannot exist read as 0, which is never one. */
export const snapshotId: Kind<number> = {
  name: 'snapshotId',
  expects: '0x and hex digits',
  schema: Type.String({ pattern: '^0x[0-9a-fA-F]+$' }),
  read(value) {
    const text = quoted(value)
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]+$/.test(text)) return refuse(this, `invalid snapshot id ${text}`)
    const id = Number(text)
    return id <= 0xffffffff ? id : 0
  },
}
