import { invalidParams } from '../rpc/errors.ts'
import type { ObjectFault } from '../rpc/method.ts'
import type { Addon } from './bindings.ts'

/** Returns the function that lets the core look for a fault of an object. */
export function objectFault(native: Pick<Addon, 'objectFault'>): ObjectFault {
  return (name, text) => {
    const fault = JSON.parse(native.objectFault(name, text).toString()) as CoreFault | null
    if (fault === null) return undefined
    const error = invalidParams(fault.message, fault.hint)
    error.shows = fault.shows
    return error
  }
}

/** A fault as the core describes it (`crates/answers/src/object_fault.rs`). */
interface CoreFault {
  readonly message: string
  readonly hint?: string
  readonly shows?: 'in use' | 'only here'
}
