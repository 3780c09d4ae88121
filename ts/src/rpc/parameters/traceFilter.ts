import { Type } from 'typebox'
import { invalidParams } from '../errors.ts'
import { type Kind, named, quoted, readMember, refuse, shortened } from '../kind.ts'
import { address } from './address.ts'
import { numberedBlock } from './block.ts'

/** Criteria of traces, members in canonical form. */
export interface TraceFilter {
  fromBlock?: string
  toBlock?: string
  fromAddress?: string[]
  toAddress?: string[]
  after?: number
  count?: number
}

/** Address with the error of the reference, which measures the whole parameter as text. */
const filterAddress: Kind<string> = {
  ...address,
  read(value) {
    try {
      return address.read(value)
    } catch {
      return refuse(this, 'invalid argument 0: hex string has length 0, want 40 for RSK address')
    }
  },
}

const addresses = Type.Union([address.schema, Type.Array(address.schema)])
const whole = Type.Integer({ minimum: 0 })

/** Parameter of trace_filter. A large one crosses as it was sent. Null members count as absent. */
export const traceFilter: Kind<TraceFilter | Buffer> = {
  name: 'filter',
  expects: 'an object with fromBlock, toBlock, fromAddress, toAddress, after, count',
  schema: Type.Object(
    {
      fromBlock: Type.Optional(numberedBlock.schema),
      toBlock: Type.Optional(numberedBlock.schema),
      fromAddress: Type.Optional(addresses),
      toAddress: Type.Optional(addresses),
      after: Type.Optional(whole),
      count: Type.Optional(whole),
    },
    { additionalProperties: false },
  ),
  read(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refuse(this, 'Invalid trace_filter parameters.')
    }
    const filter: TraceFilter = {}
    for (const [name, member] of Object.entries(value)) {
      if (member === null) continue
      if (name === 'fromBlock' || name === 'toBlock') {
        filter[name] = readMember('filter', named(name, numberedBlock), withPlainTag(member))
      } else if (name === 'fromAddress' || name === 'toAddress') {
        filter[name] = [member].flat().map((one) => readMember('filter', named(name, filterAddress), one))
      } else if (name === 'after' || name === 'count') {
        filter[name] = readCount(name, member)
      } else {
        return refuse(this, `Invalid trace_filter parameters: unknown member ${shortened(name)}`)
      }
    }
    return filter
  },
  readLarge: ({ bytes }) => bytes,
}

/** Lowers the case of a tag. */
function withPlainTag(block: unknown): unknown {
  const isTag = typeof block === 'string' && /^(latest|earliest|pending)$/i.test(block)
  return isTag ? block.toLowerCase() : block
}

function readCount(name: 'after' | 'count', value: unknown): number {
  const hint = `filter.${name}: expected a whole number`
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw invalidParams(`Invalid ${name} ${shortened(quoted(value))}: must be a whole number`, hint)
  }
  if (value >= 0) return value
  throw invalidParams(`${name === 'after' ? 'After' : 'Count'} value cannot be negative.`, hint)
}
