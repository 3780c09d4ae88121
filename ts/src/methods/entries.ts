import { MethodGroups } from '../auth/methodGroups.ts'
import { ConfigError } from '../config/error.ts'
import type { Entry, MethodSpec } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import { notOffered, table } from './table.ts'

/** Settings of modules by name. */
export interface ModuleSettings {
  readonly enabled?: boolean
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  /** Time limits of single methods by name, in milliseconds. */
  readonly timeoutMs?: Readonly<Record<string, number>>
}

type Modules = Readonly<Record<string, ModuleSettings>>

/** Endpoint at which methods are served. */
export interface Place {
  /** Reachable by unknown clients: dangerous modules are served only if `modules` enable them. */
  readonly isPublic: boolean
  /** Settings of modules for this endpoint only. */
  readonly modules: Modules
}

const anywhere: Place = { isPublic: false, modules: {} }

/** Returns the method table by wire name: specs, their aliases, and known methods that this node does not offer. */
export function entriesFor(
  nodeModules: Modules,
  isDevelopment: boolean,
  place: Place = anywhere,
): ReadonlyMap<string, Entry<Context>> {
  const modules = modulesAt(nodeModules, place)
  const entries = new Map<string, Entry<Context>>(notOffered.map(([name, arities]) => [name, { arities }]))
  for (const spec of table) {
    for (const name of wireNames(spec)) {
      const settings = modules[moduleOf(name)]
      const isServed =
        (isDevelopment || spec.isForDevelopment !== true) &&
        isModuleServed(moduleOf(name), modules, isDevelopment) &&
        isListed(name, settings, openedBy(spec, name, place))
      const timeoutMs = settings?.timeoutMs?.[name]
      const served = timeoutMs === undefined ? { spec } : { spec, timeoutMs }
      entries.set(name, isServed ? served : { arities: spec.method })
    }
  }
  return entries
}

/** Merges settings of an endpoint with those of the node. A public endpoint must enable dangerous modules itself. */
function modulesAt(nodeModules: Modules, { isPublic, modules }: Place): Modules {
  const names = new Set([...Object.keys(nodeModules), ...Object.keys(modules), ...(isPublic ? dangerous : [])])
  return Object.fromEntries(
    [...names].map((name) => {
      const settings = { ...nodeModules[name], ...modules[name] }
      const isShut = isPublic && dangerous.includes(name) && modules[name]?.enabled !== true
      return [name, isShut ? { ...settings, enabled: false } : settings]
    }),
  )
}

/** Returns the names of all methods that at least one of these endpoints serves. */
export function servedMethods(modules: Modules, isDevelopment: boolean, places: readonly Place[]): string[] {
  const names = places.flatMap((place) =>
    [...entriesFor(modules, isDevelopment, place)].filter(([, entry]) => 'spec' in entry).map(([name]) => name),
  )
  return [...new Set(names)]
}

/** Returns the names of all methods, grouped by method. */
export function methodGroups(): string[][] {
  return [...table.map(wireNames), ...notOffered.map(([name]) => [name])]
}

/** Returns the entries of a list of methods and `group_*` that match no method. */
export function unknownMethods(list: readonly string[]): string[] {
  const groups = new MethodGroups(methodGroups())
  return list.filter((entry) => groups.namesOf([entry]).size === 0)
}

/** Throws ConfigError if settings of the node or of one of its addresses name modules or methods that do not exist. */
export function checkModules(nodeModules: Modules, addresses: readonly { path: string; modules: Modules }[]): void {
  const names = methodGroups().flat()
  const known = new Set(names.map(moduleOf))
  const problems: string[] = []
  for (const { path, modules } of [{ path: '', modules: nodeModules }, ...addresses]) {
    for (const [module, { allow = [], deny = [], timeoutMs = {} }] of Object.entries(modules)) {
      const place = `${path}.modules.${module}`.replace(/^\./, '')
      if (!known.has(module)) {
        problems.push(`${place}: no such module`)
        continue
      }
      for (const [list, methods] of Object.entries({ allow, deny, timeoutMs: Object.keys(timeoutMs) })) {
        const unknown = methods.filter((name) => moduleOf(name) !== module || !names.includes(name))
        problems.push(...unknown.map((name) => `${place}.${list}: the module has no method ${name}`))
      }
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

/** Returns the served modules in the form of rpc_modules, as JSON. */
export function servedModules(nodeModules: Modules, isDevelopment: boolean, place: Place = anywhere): string {
  const modules = modulesAt(nodeModules, place)
  const names = [...new Set(table.map((spec) => spec.module))].filter((name) =>
    isModuleServed(name, modules, isDevelopment),
  )
  return JSON.stringify(Object.fromEntries(names.sort().map((name) => [name, '1.0'])))
}

/** Returns all names of a spec. An alias `rsk_x` includes `chain_x`: the API document and Rootstock tools use both prefixes. */
export function wireNames({ name, alias = [] }: MethodSpec<Context>): string[] {
  const others = [alias].flat()
  return [name, ...others.flatMap((one) => (one.startsWith('rsk_') ? [one, one.replace('rsk_', 'chain_')] : [one]))]
}

/** Second names of modules. */
const sameModule: Readonly<Record<string, string>> = { chain: 'rsk', anvil: 'hardhat', miner: 'evm', erigon: 'ots' }

/** Returns the module of a wire name. */
export function moduleOf(name: string): string {
  const [prefix = ''] = name.split(/[_.]/)
  return sameModule[prefix] ?? prefix
}

/**
 * Modules that are off by default outside development networks: they change the chain or the peers, are for miners, spend
 * the funds of the node's accounts, or make every request expensive.
 */
const offByDefault = ['admin', 'debug', 'evm', 'hardhat', 'mnr', 'ots', 'personal', 'sco', 'trace']

/** Modules of `offByDefault` with which unknown clients could harm the node or its accounts. */
const dangerous = ['admin', 'debug', 'evm', 'hardhat', 'mnr', 'personal', 'sco']

/** Returns the dangerous modules that the node enables, but that a public endpoint does not serve. */
export function shutModules(nodeModules: Modules, { isPublic, modules }: Place): string[] {
  return dangerous.filter((name) => isPublic && nodeModules[name]?.enabled === true && modules[name]?.enabled !== true)
}

/** Returns whether a module is served on development networks only, unless the configuration enables it. */
export function isOffByDefault(module: string): boolean {
  return offByDefault.includes(module)
}

function isModuleServed(module: string, modules: Modules, isDevelopment: boolean): boolean {
  return modules[module]?.enabled ?? (isOffByDefault(module) ? isDevelopment : true)
}

/** Returns the settings whose lists must open a method; 'all' if it is open by default. */
function openedBy(
  spec: MethodSpec<Context>,
  name: string,
  { isPublic, modules }: Place,
): 'all' | 'any list' | ModuleSettings {
  if (isPublic && (spec.isOff === true || spec.needsAccounts === true)) return modules[moduleOf(name)] ?? {}
  return spec.isOff === true ? 'any list' : 'all'
}

function isListed(name: string, settings: ModuleSettings | undefined, opened: ReturnType<typeof openedBy>): boolean {
  // A list may use either name of a method.
  const names = [name, name.replace(/^chain_/, 'rsk_'), name.replace(/^rsk_/, 'chain_')]
  const has = (list: readonly string[]) => names.some((one) => list.includes(one))
  if (settings?.deny !== undefined && has(settings.deny)) return false
  if (settings?.allow !== undefined && !has(settings.allow)) return false
  if (opened === 'all') return true
  // A configured list, even an empty one, replaces the default list that denies such methods.
  const { allow, deny } = (opened === 'any list' ? settings : opened) ?? {}
  return deny !== undefined || allow !== undefined
}
