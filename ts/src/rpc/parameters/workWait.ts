import { Type } from 'typebox'
import { type Kind, readMember, refuse } from '../kind.ts'
import { knownWork } from './hash.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Longest wait for another block template. */
const maxWaitMs = 60_000

const timeoutMs = wholeNumber('timeoutMs', maxWaitMs)

/** Wait for another block template than a known one. */
export interface WorkWait {
  /** Hash for merged mining of the known one, in lower case. */
  readonly after: string
  readonly timeoutMs: number
}

/** Parameter of mnr_getWork. */
export const workWait: Kind<WorkWait> = {
  name: 'wait',
  expects: `an object with after, the blockHashForMergedMining of the known work, and timeoutMs, 0 to ${maxWaitMs}`,
  schema: Type.Object({ after: knownWork.schema, timeoutMs: Type.Optional(timeoutMs.schema) }),
  read(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(this, 'Invalid wait')
    const sent = value as { after?: unknown; timeoutMs?: unknown }
    const limitMs = sent.timeoutMs == null ? maxWaitMs / 2 : readMember(this.name, timeoutMs, sent.timeoutMs)
    return { after: readMember(this.name, knownWork, sent.after).toLowerCase(), timeoutMs: limitMs }
  },
}
