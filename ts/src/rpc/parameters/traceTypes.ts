import { Type } from 'typebox'
import { type Kind, quoted, refuse, shortened } from '../kind.ts'

const types = ['trace', 'stateDiff', 'vmTrace'] as const

/** Part of a replay. */
export type TraceType = (typeof types)[number]

/** Requested parts of a replay or of trace_call. */
export const traceTypes: Kind<TraceType[]> = {
  name: 'types',
  expects: `an array of ${types.join(', ')}`,
  schema: Type.Array(Type.Enum([...types])),
  read(value) {
    if (!Array.isArray(value)) return refuse(this, 'Invalid trace types: an array is expected')
    return value.map((one) => {
      const known = types.find((type) => type === one)
      return known ?? refuse(this, `Invalid trace type: ${shortened(quoted(one))}`)
    })
  },
}
