import type { FilterPort } from '../filters/port.ts'
import type { Addon } from '../native/bindings.ts'
import { methodsOf } from '../rpc/method.ts'

/** What every method is given. */
export interface Context {
  readonly native: Addon
  readonly filters: FilterPort
  /** Modules that are served and their versions, as JSON. */
  readonly modules: string
}

/** Declares a method: its parameters and the function that answers it with finished JSON. */
export const defineMethod = methodsOf<Context>()
