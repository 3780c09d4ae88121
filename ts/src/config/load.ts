import { readFileSync } from 'node:fs'
import { parse as parseToml, TomlError } from 'smol-toml'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../rpc/jsonText.ts'
import { addressProblems } from './addresses.ts'
import { networkOfChainFile } from './chainFile.ts'
import { toolsProblems } from './choices.ts'
import { ConfigError } from './error.ts'
import { accepted, hintAt, leafAt, leaves, namesBeside, valueAt } from './leaves.ts'
import { type Config, schema } from './schema.ts'
import { storeAddress } from './storeUrl.ts'

const check = Compile(schema)

/** Sources of settings. Precedence, lowest first: defaults, file, environment, flags. */
export interface Sources {
  /** Settings passed by a program instead of a file. */
  readonly settings?: object
  /** Path of a TOML file, or of a JSON file if its name ends in `.json`. */
  readonly file?: string | undefined
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Flags by setting, e.g. `http.port`. Problems name the flag. */
  readonly flags?: Readonly<Record<string, { value: string | boolean; flag: string }>>
}

/** Settings that a fork does not have: its network is that of the other node, its data are temporary, and it has no peers. */
const notInForks = ['network', 'dataDir', 'development.chainId', 'p2p.port', 'p2p.peers', 'p2p.bootnodes']

/** Reads and checks all sources. Throws ConfigError with every problem found. */
export function loadConfig(sources: Sources): Config {
  const problems: string[] = []
  const origins = new Map<string, string>()
  /** Precedence of each setting; absent for settings of the file, which have the lowest. */
  const precedences = new Map<string, number>()
  const base = sources.file === undefined ? (sources.settings ?? {}) : readFile(sources.file)
  const merged = structuredClone(base) as Record<string, unknown>
  for (const [name, value] of Object.entries(sources.environment ?? {})) {
    if (!name.startsWith('RHIZOME_') || value === undefined) continue
    const leaf = leaves.find((one) => one.environment === name)
    if (leaf === undefined) {
      const hint = hintAt(
        name,
        leaves.map(({ environment }) => environment),
      )
      problems.push(`${name}: no such setting${hint} (environment)`)
      continue
    }
    origins.set(leaf.path, name)
    precedences.set(leaf.path, 1)
    put(merged, leaf.path, leaf.fromText(value))
  }
  for (const [path, { value, flag }] of Object.entries(sources.flags ?? {})) {
    origins.set(path, flag)
    precedences.set(path, 2)
    put(merged, path, typeof value === 'boolean' ? value : leafAt(path).fromText(value))
  }
  const isOverridden = (path: string, by: string) => (precedences.get(path) ?? 0) < (precedences.get(by) ?? 0)
  const isFork = valueAt(merged, 'fork.url') !== undefined && valueAt(merged, 'fork.url') !== ''
  if (isFork) {
    for (const path of notInForks) {
      const value = valueAt(merged, path)
      if (value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0)) continue
      // The image sets it in the environment.
      if (path === 'dataDir' && isOverridden(path, 'fork.url')) continue
      const [fork, other] = ['fork.url', path].map((one) => origins.get(one) ?? one)
      problems.push(`${fork}: cannot be combined with ${other}; leave one of them out`)
    }
  }
  if (!isFork && typeof merged.chain === 'string' && merged.chain !== '') {
    const network = networkOfChainFile(merged.chain)
    if (merged.network !== undefined && network !== undefined && merged.network !== network) {
      problems.push(`network: ${merged.network} is given, but ${merged.chain} describes a chain of ${network}`)
    }
    merged.network ??= network
  }
  if (merged.ephemeral === true && merged.dataDir && !isOverridden('dataDir', 'ephemeral')) {
    const [ephemeral, dataDir] = ['ephemeral', 'dataDir'].map((path) => origins.get(path) ?? path)
    problems.push(`${ephemeral}: cannot be combined with ${dataDir}; leave one of them out`)
  }
  const config = withDefaults(merged)
  problems.push(...describeErrors(config, origins, sources.file))
  const read = config as Config
  if (problems.length === 0)
    problems.push(...addressProblems(read), ...toolsProblems(read), ...storeProblems(read), ...indexProblems(read))
  if (problems.length === 0) problems.push(...developmentProblems(read))
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Config
}

/** Returns the problem of a store URL that matches the pattern but is invalid. It never contains the URL, which may hold a password. */
function storeProblems({ store }: Config): string[] {
  if (storeAddress(store) !== undefined) return []
  return ['store.url: expected a URL with host, port and number of a database; escape special characters with %']
}

/** Returns the problem of an index of inner calls without the address index, which it completes. */
function indexProblems({ index }: Config): string[] {
  return index.calls && index.addresses === false ? ['index.calls: needs index.addresses, which is false'] : []
}

/** Returns problems of development settings: other networks and chain files define accounts and chain id themselves. */
function developmentProblems({ network, chain, development, fork }: Config): string[] {
  const isFork = fork.url !== ''
  if (network === 'regtest' && (chain === '' || isFork)) return []
  const set = Object.entries(development).filter(([, value]) => value !== undefined && value !== '')
  const target = chain === '' ? `network = "${network}"` : 'a chain file'
  return set.map(([name]) => `development.${name}: is for network = "regtest", not for ${target}`)
}

function readFile(path: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? error})`])
  }
  return path.endsWith('.json') ? fromJson(path, text) : fromToml(path, text)
}

function fromJson(path: string, text: string): Record<string, unknown> {
  const content = jsonIn(text)
  if (content === undefined) throw new ConfigError([`${path}: is not JSON`])
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
    return content as Record<string, unknown>
  }
  throw new ConfigError([`${path}: expected an object of settings`])
}

function fromToml(path: string, text: string): Record<string, unknown> {
  try {
    return parseToml(text)
  } catch (error) {
    if (error instanceof TomlError) {
      throw new ConfigError([`${path}:${error.line}:${error.column}: ${error.message.split('\n')[0]}`])
    }
    throw error
  }
}

function put(target: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.')
  let section = target
  for (const name of names.slice(0, -1)) {
    const inner = section[name]
    if (typeof inner !== 'object' || inner === null) section[name] = {}
    section = section[name] as Record<string, unknown>
  }
  section[names.at(-1) ?? ''] = value
}

function withDefaults(settings: Record<string, unknown>): unknown {
  const complete: Record<string, unknown> = { modules: {}, listen: [], ...settings }
  for (const leaf of leaves) {
    const names = leaf.path.split('.')
    // Also a section of settings without defaults is present.
    if (names.length > 1) complete[names[0] ?? ''] ??= {}
    if (leaf.preset === undefined) continue
    const inner = names.length === 1 ? complete : (complete[names[0] ?? ''] ?? {})
    if (typeof inner !== 'object') continue
    const value = (inner as Record<string, unknown>)[names.at(-1) ?? '']
    if (value === undefined) put(complete, leaf.path, leaf.preset)
    // A text may be a number: `proofs = 128`. The schema check judges its digits, as those of a flag.
    else if (typeof value === 'number' && typeof leaf.preset === 'string') put(complete, leaf.path, `${value}`)
  }
  return complete
}

function describeErrors(config: unknown, origins: Map<string, string>, file: string | undefined): string[] {
  if (check.Check(config)) return []
  const problems = new Map<string, string>()
  for (const error of check.Errors(config)) {
    const place = error.instancePath.slice(1).replaceAll('/', '.')
    // A wrong element makes its list wrong.
    const list = place.replace(/\.\d+$/, '')
    const path = leaves.some((one) => one.path === list) ? list : place
    const { additionalProperties = [], requiredProperties = [] } = error.params as Partial<Record<string, string[]>>
    const within = (name: string) => (path === '' ? name : `${path}.${name}`)
    for (const full of additionalProperties.map(within)) {
      problems.set(full, `${full}: no such setting${hintAt(full, namesBeside(full))}${from(full, origins, file)}`)
    }
    if (error.keyword === 'additionalProperties') continue
    for (const full of requiredProperties.length > 0 ? requiredProperties.map(within) : [path]) {
      if (problems.has(full)) continue
      const { expects, isSecret } = accepted(full)
      const got = isSecret ? 'something else' : (JSON.stringify(valueAt(config, full)) ?? 'nothing')
      problems.set(full, `${full}: expected ${expects}, got ${got}${from(full, origins, file)}`)
    }
  }
  return [...problems.values()]
}

function from(path: string, origins: Map<string, string>, file: string | undefined): string {
  const origin = origins.get(path) ?? file
  return origin === undefined ? '' : ` (${origin})`
}
