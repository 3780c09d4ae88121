import { schema } from './schema.ts'

/** One setting, as needed by the environment, the flags and the printed file. */
export interface Leaf {
  /** E.g. `http.port`. */
  readonly path: string
  /** E.g. `RHIZOME_HTTP_PORT`. */
  readonly environment: string
  readonly description: string
  /** The default; undefined if there is none. */
  readonly preset: unknown
  /** The accepted values in words. */
  readonly expects: string
  /** The value is never printed. */
  readonly isSecret: boolean
  /** Converts the text of a flag or an environment variable. Returns an invalid text unchanged; the schema check rejects it later. */
  fromText(text: string): unknown
}

interface Described {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** Description of a text with a pattern. */
  readonly expects?: string
  readonly isSecret?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Described>>
  readonly patternProperties?: Readonly<Record<string, Described>>
  readonly items?: Described
}

/** All settings with a fixed name, in the order of the schema. */
export const leaves: readonly Leaf[] = collect(schema as Described, '')

export function leafAt(path: string): Leaf {
  const leaf = leaves.find((one) => one.path === path)
  if (leaf === undefined) throw new RangeError(`no setting ${path}`)
  return leaf
}

/** Returns the description of a section. */
export function sectionText(name: string): string {
  return memberAt(name)?.description ?? ''
}

/** Describes the values that a place of the file takes, and whether they are kept secret: a section may have been given the secret itself. */
export function accepted(path: string): { readonly expects: string; readonly isSecret: boolean } {
  const member = memberAt(path) ?? {}
  const members = Object.values(member.properties ?? {})
  return { expects: expectation(member), isSecret: [member, ...members].some(({ isSecret }) => isSecret === true) }
}

/** Returns the names that a place of the file may have: those of its table first, then all settings. */
export function namesBeside(path: string): string[] {
  const table = path.replace(/[^.]*$/, '')
  const siblings = Object.keys(memberAt(table.slice(0, -1))?.properties ?? {})
  return [...siblings.map((name) => table + name), ...leaves.map((leaf) => leaf.path)]
}

/** Least similarity for a hint: `prot` is like `port`, `foo` is not like `fork`. */
const leastSimilarity = 0.63

/** Returns a hint at the name that resembles an unknown one most, as a whole or in its last part; empty if none does. */
export function hintAt(unknown: string, names: readonly string[]): string {
  let best = { hint: '', score: leastSimilarity }
  for (const name of names) {
    const score = Math.max(similarity(name, unknown), similarity(lastName(name), lastName(unknown)))
    if (score > best.score) best = { hint: `; did you mean ${name}?`, score }
  }
  return best.hint
}

function lastName(path: string): string {
  return path.split('.').at(-1) ?? ''
}

/** Returns the share of letters and pairs of letters that two names have in common, without regard to case and separators. */
function similarity(one: string, other: string): number {
  const [left, right] = [parts(one), parts(other)]
  return (2 * left.filter((part) => right.includes(part)).length) / (left.length + right.length)
}

function parts(name: string): string[] {
  const letters =
    name
      .replace('RHIZOME_', '')
      .toLowerCase()
      .match(/[a-z0-9]/g) ?? []
  return [...new Set(letters.flatMap((letter, at) => [letter, `${letters[at - 1]}${letter}`]))]
}

function memberAt(path: string): Described | undefined {
  let member: Described | undefined = schema as Described
  for (const name of path === '' ? [] : path.split('.')) {
    member = member?.properties?.[name] ?? member?.items ?? Object.values(member?.patternProperties ?? {})[0]
  }
  return member
}

/** Returns the value of a setting or a section, e.g. `http.port`; undefined if it is absent. */
export function valueAt(config: unknown, path: string): unknown {
  let value: unknown = config
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  return value
}

function collect(described: Described, prefix: string): Leaf[] {
  return Object.entries(described.properties ?? {}).flatMap(([name, member]): Leaf[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    if (member.properties !== undefined) return collect(member, path)
    if (isTable(member)) return []
    return [
      {
        path,
        environment: `RHIZOME_${path
          .replaceAll('.', '_')
          .replace(/([a-z])([A-Z])/g, '$1_$2')
          .toUpperCase()}`,
        description: member.description ?? '',
        preset: member.default,
        expects: expectation(member),
        isSecret: member.isSecret === true,
        fromText: (text) => fromText(member, text),
      },
    ]
  })
}

/** Returns whether a member is a table of the file, without environment variable: its members have no fixed names, or it may be repeated. */
function isTable(member: Described): boolean {
  return member.patternProperties !== undefined || member.items?.properties !== undefined
}

function expectation(member: Described): string {
  if (member.expects !== undefined) return member.expects
  if (member.type === 'object') return 'a table'
  if (member.enum !== undefined) return member.enum.filter((value) => value !== '').join(', ')
  if (member.type === 'integer') {
    const { maximum = Number.MAX_SAFE_INTEGER } = member
    const upper = maximum === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${maximum}`
    return `a whole number of at least ${member.minimum}${upper}`
  }
  if (member.type === 'boolean') return 'true or false'
  if (member.type === 'array')
    return `a list of ${member.items?.enum?.join(', ') ?? (isTable(member) ? 'tables' : 'texts')}`
  return 'a text'
}

function fromText(member: Described, text: string): unknown {
  if (member.type === 'integer' && /^-?[0-9]+$/.test(text)) return Number(text)
  if (member.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (member.type === 'array') return text === '' ? [] : text.split(',').map((one) => one.trim())
  return text
}
