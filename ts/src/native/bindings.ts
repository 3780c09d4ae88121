import type * as exported from './addon.d.ts'

/**
 * What the addon exports. Names are wire names in camel case; parameters arrive checked (rpc/parameters), results are
 * finished JSON. Functions that return promises execute in the addon's pool: they take the milliseconds left (0: no
 * limit) and a token by which `cancelExecution` ends them. Those that may return either are told whether they may answer at once.
 */
export type Addon = typeof exported
