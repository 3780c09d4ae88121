import type { FilterPort } from '../filters/port.ts'
import type { Addon } from '../native/bindings.ts'
import type { HeadChanges } from '../native/headChanges.ts'
import type { Answer } from '../rpc/envelope.ts'
import { methodsOf } from '../rpc/method.ts'
import type { Feeds } from '../subscriptions/feeds.ts'
import type { SubscriptionPort } from '../subscriptions/publisher.ts'

/** Services of the worker that methods use. */
export interface Context {
  readonly native: Addon
  /**
   * 1 from the first reset on that makes the node a fork, or from its start, for all workers. The addon knows whether it still is
   * one, but each read of the head would pay for the call.
   */
  readonly mayBeFork: Int32Array
  readonly filters: FilterPort
  readonly subscriptions: SubscriptionPort
  readonly feeds: Pick<Feeds, 'subscribe' | 'unsubscribe'>
  readonly heads: HeadChanges
  /** Whether the address serves a method. */
  readonly serves: (method: string) => boolean
  /** Longest wait for the block of a transaction, in milliseconds. */
  readonly sendWaitMs: number
  /** Ends the node after running requests are answered. */
  readonly shutdown: () => void
  /** Served modules and their versions, as JSON. */
  readonly modules: string
  /** Returns the OpenRPC document of the served methods, as JSON. */
  discover(): Answer
}

/** Declares a method: its parameters and the function that answers it with finished JSON. */
export const defineMethod = methodsOf<Context>()
