import { MethodGroups } from '../auth/methodGroups.ts'
import type { Entry, MethodSpec } from '../rpc/dispatch.ts'
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

type Modules = Readonly<Record<string, ModuleSettings>>

/** Where methods are served. */
export interface Place {
  /** Strangers reach it: what is dangerous in their hands is served only when `modules` say so. */
  readonly isPublic: boolean
  /** What is said of modules for this place alone. */
  readonly modules: Modules
}

const anywhere: Place = { isPublic: false, modules: {} }

/** The table under every wire name: specs, their aliases, and what is known but not offered on this node. */
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

/** What counts at a place: its own settings before those of the node. In public, dangerous modules are for itself to open. */
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

/** The names of all methods that are served at one of these places at least. */
export function servedMethods(modules: Modules, isDevelopment: boolean, places: readonly Place[]): string[] {
  const names = places.flatMap((place) =>
    [...entriesFor(modules, isDevelopment, place)].filter(([, entry]) => 'spec' in entry).map(([name]) => name),
  )
  return [...new Set(names)]
}

/** The names of all methods there are, those of one method together. */
export function methodGroups(): string[][] {
  return [...table.map(wireNames), ...notOffered.map(([name]) => [name])]
}

/** Entries of a list of methods and `group_*` that mean none. */
export function unknownMethods(list: readonly string[]): string[] {
  const groups = new MethodGroups(methodGroups())
  return list.filter((entry) => groups.namesOf([entry]).size === 0)
}

/** The modules that are served, as the JSON of rpc_modules. */
export function servedModules(nodeModules: Modules, isDevelopment: boolean, place: Place = anywhere): string {
  const modules = modulesAt(nodeModules, place)
  const names = [...new Set(table.map((spec) => spec.module))].filter((name) =>
    isModuleServed(name, modules, isDevelopment),
  )
  return JSON.stringify(Object.fromEntries(names.sort().map((name) => [name, '1.0'])))
}

/** All names of a spec. An alias `rsk_x` answers as `chain_x` too: the API document and Rootstock tools use different prefixes. */
export function wireNames({ name, alias }: MethodSpec<Context>): string[] {
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

/** Those of them that strangers could harm the node or its accounts with. */
const dangerous = ['debug', 'evm', 'hardhat', 'mnr', 'personal', 'sco']

/** The dangerous modules that the node has on, but that are shut at a place because it is public. */
export function shutModules(nodeModules: Modules, { isPublic, modules }: Place): string[] {
  return dangerous.filter((name) => isPublic && nodeModules[name]?.enabled === true && modules[name]?.enabled !== true)
}

/** Whether a module is served on development networks only, as long as the configuration says nothing. */
export function isAskedFor(module: string): boolean {
  return askedFor.includes(module)
}

function isModuleServed(module: string, modules: Modules, isDevelopment: boolean): boolean {
  return modules[module]?.enabled ?? (isAskedFor(module) ? isDevelopment : true)
}

/** The settings whose lists have to open a method; 'all' when it is open anyway. */
function openedBy(
  spec: MethodSpec<Context>,
  name: string,
  { isPublic, modules }: Place,
): 'all' | 'any list' | ModuleSettings {
  if (isPublic && (spec.isOff === true || spec.needsAccounts === true)) return modules[moduleOf(name)] ?? {}
  return spec.isOff === true ? 'any list' : 'all'
}

function isListed(name: string, settings: ModuleSettings | undefined, opened: ReturnType<typeof openedBy>): boolean {
  // Both names of a method have the same rights: a list may use either.
  const names = [name, name.replace(/^chain_/, 'rsk_'), name.replace(/^rsk_/, 'chain_')]
  const has = (list: readonly string[]) => names.some((one) => list.includes(one))
  if (settings?.deny !== undefined && has(settings.deny)) return false
  if (settings?.allow !== undefined && !has(settings.allow)) return false
  if (opened === 'all') return true
  // A list of one's own, though it is empty, takes the place of the one that holds such methods.
  const { allow, deny } = (opened === 'any list' ? settings : opened) ?? {}
  return deny !== undefined || allow !== undefined
}
