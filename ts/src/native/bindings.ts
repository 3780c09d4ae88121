import type * as exported from './addon.d.ts'

/**
 * Exports of the addon. Names are wire names in camel case; parameters arrive checked (rpc/parameters), results are
 * finished JSON. Functions that return promises execute in the pool of the addon: they take the milliseconds left (0: no
 * limit) and a cancellation token for `cancelExecution`. With `mayRunInline`, short executions return the result directly.
 */
export type Addon = typeof exported
