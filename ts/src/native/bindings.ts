import type * as exported from './addon.d.ts'

/**
 * What the addon exports. Names are wire names in camel case; parameters arrive checked (rpc/parameters), results are
 * finished JSON. Functions that return promises execute in the addon's pool: they take the milliseconds left (0: no
 * limit) and a ticket by which `cancelTicket` ends them.
 */
export type Addon = typeof exported
