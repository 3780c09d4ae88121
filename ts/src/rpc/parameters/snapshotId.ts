import { Type } from 'typebox'
import { type Kind, quoted, refuse } from '../kind.ts'

/** Id of a snapshot. Ids that cannot exist are read as 0, which no snapshot has. */
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
