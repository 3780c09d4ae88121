import type { Entry, Row } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import { notOffered, table } from './table.ts'

/** Which modules a node serves. */
export interface ModuleSettings {
  readonly enabled?: boolean
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  /** Time for single methods, by their names. */
  readonly timeoutMs?: Readonly<Record<string, number>>
}

/** The table under every wire name: rows, their aliases, and what is known but not offered on this node. */
export function entriesFor(
  modules: Readonly<Record<string, ModuleSettings>>,
  isDevelopment: boolean,
): ReadonlyMap<string, Entry<Context>> {
  const entries = new Map<string, Entry<Context>>(notOffered.map(([name, arities]) => [name, { arities }]))
  for (const row of table) {
    for (const name of wireNames(row)) {
      const settings = modules[moduleOf(name)]
      const isServed = isModuleServed(moduleOf(name), modules, isDevelopment) && isListed(name, settings, row.isOff)
      const timeoutMs = settings?.timeoutMs?.[name]
      const served = timeoutMs === undefined ? { row } : { row, timeoutMs }
      entries.set(name, isServed ? served : { arities: row.method })
    }
  }
  return entries
}

/** The names of all methods that are served. */
export function servedMethods(modules: Readonly<Record<string, ModuleSettings>>, isDevelopment: boolean): string[] {
  return [...entriesFor(modules, isDevelopment)].filter(([, entry]) => 'row' in entry).map(([name]) => name)
}

/** The modules that are served, as the JSON of rpc_modules. */
export function servedModules(modules: Readonly<Record<string, ModuleSettings>>, isDevelopment: boolean): string {
  const names = [...new Set(table.map((row) => row.module))].filter((name) =>
    isModuleServed(name, modules, isDevelopment),
  )
  return JSON.stringify(Object.fromEntries(names.sort().map((name) => [name, '1.0'])))
}

/** All names of a row. An alias `rsk_x` answers as `chain_x` too: the API document and Rootstock tools use different prefixes. */
export function wireNames({ name, alias }: Row<Context>): string[] {
  if (alias === undefined) return [name]
  return alias.startsWith('rsk_') ? [name, alias, alias.replace('rsk_', 'chain_')] : [name, alias]
}

/** Prefixes that are second names of a module. */
const sameModule: Readonly<Record<string, string>> = { chain: 'rsk', anvil: 'hardhat' }

function moduleOf(name: string): string {
  const [prefix = ''] = name.split(/[_.]/)
  return sameModule[prefix] ?? prefix
}

/**
 * Modules that somebody has to ask for outside development networks: they change the chain or whom the node talks to, are
 * for those who mine, give away what its accounts own, or make every request expensive.
 */
const askedFor = ['debug', 'evm', 'hardhat', 'mnr', 'personal', 'sco', 'trace']

/** Whether a module is served on development networks only, as long as the configuration says nothing. */
export function isAskedFor(module: string): boolean {
  return askedFor.includes(module)
}

function isModuleServed(
  module: string,
  modules: Readonly<Record<string, ModuleSettings>>,
  isDevelopment: boolean,
): boolean {
  return modules[module]?.enabled ?? (isAskedFor(module) ? isDevelopment : true)
}

function isListed(name: string, settings: ModuleSettings | undefined, isOff = false): boolean {
  // Both names of a method have the same rights: a list may use either.
  const names = [name, name.replace(/^chain_/, 'rsk_'), name.replace(/^rsk_/, 'chain_')]
  const has = (list: readonly string[]) => names.some((one) => list.includes(one))
  if (settings?.deny !== undefined && has(settings.deny)) return false
  if (settings?.allow !== undefined) return has(settings.allow)
  // A list of one's own, though it is empty, takes the place of the one that holds such methods.
  return !isOff || settings?.deny !== undefined
}
