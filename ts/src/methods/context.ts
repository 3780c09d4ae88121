import type { FilterPort } from '../filters/port.ts'
import type { Addon } from '../native/bindings.ts'
import { methodsOf } from '../rpc/method.ts'
import type { SubscriptionPort } from '../subscriptions/publisher.ts'

/** What every method is given. */
export interface Context {
  readonly native: Addon
  readonly filters: FilterPort
  readonly subscriptions: SubscriptionPort
  /** Asks the whole node to end: running requests are answered first. */
  readonly shutdown: () => void
  /** Modules that are served and their versions, as JSON. */
  readonly modules: string
  /** The OpenRPC document of what is served, as JSON. */
  discover(): string
}

/** Declares a method: its parameters and the function that answers it with finished JSON. */
export const defineMethod = methodsOf<Context>()
