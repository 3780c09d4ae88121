// Loaded only if metrics or the operator's page are enabled: it imports all methods.

import { addressesOf } from './config/addresses.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { servedMethods } from './methods/entries.ts'
import { Counters } from './observe/counters.ts'

/** Creates a set of counters for each worker. */
export function createCounters(config: Config, count: number): Counters[] {
  const methods = servedMethods(config.modules, isDevelopment(config), addressesOf(config))
  return Array.from({ length: count }, () => new Counters(methods))
}
