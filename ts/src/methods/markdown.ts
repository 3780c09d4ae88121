import type { TSchema } from 'typebox'
import type { MethodSpec } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import { isOffByDefault, wireNames } from './entries.ts'
import { notOffered, table } from './table.ts'

// Generates docs/methods.md from the method table and the schemas of parameters and results.

/** Members of a JSON schema that the page describes. */
interface Described {
  readonly title?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Described[]
  readonly items?: Described | readonly Described[]
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Described>>
}

/** Returns the page. */
export function methodsPage(): string {
  const shapes = new Map<string, Described>()
  const modules = [...new Set(table.map((spec) => spec.module))].map((name) => moduleSection(name, shapes))
  const names = notOffered.map(([name]) => `\`${name}\``).join(', ')
  return [
    '# Methods',
    '',
    'Generated from the method table by `npm run docs`; do not edit. `rpc.discover` returns the same as an OpenRPC document.',
    '',
    'Parameters are positional; parameters with `?` are optional and may be null. QUANTITY is `0x` and hex without leading zeros, DATA',
    '`0x` and two digits a byte, DATA(n) n bytes. An invalid parameter is -32602 with its name.',
    '',
    'Units are compute units: the price of a call for an app with a rate or quota. Unknown methods and invalid requests cost 1.',
    '',
    ...modules,
    '## Known, but not offered',
    '',
    `${names}: -32601.`,
    '',
    '## Objects',
    '',
    ...[...shapes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([title, schema]) => shapeSection(title, schema, shapes)),
  ].join('\n')
}

function moduleSection(module: string, shapes: Map<string, Described>): string {
  const specs = table.filter((spec) => spec.module === module)
  const note = isOffByDefault(module)
    ? 'Served on regtest and devnet, on other networks if the configuration enables them.\n\n'
    : ''
  const lines = specs.map(
    (spec) => `| ${signature(spec)} | ${words(schemaOf(spec), shapes)} | ${price(spec)} | ${about(spec)} |`,
  )
  return `## ${module}\n\n${note}| Method | Result | Units | |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n\n${parametersOf(specs)}`
}

function schemaOf(spec: MethodSpec<Context>): Described {
  return plain(spec.method.result)
}

function signature(spec: MethodSpec<Context>): string {
  const names = spec.method.params.described.map(({ name, isRequired }) => (isRequired ? name : `${name}?`))
  return `\`${spec.name}(${names.join(', ')})\``
}

function price({ cost, answerBytes }: MethodSpec<Context>): string {
  return answerBytes === undefined ? `${cost}` : `${cost}, and 1 for each kB of the answer`
}

function about(spec: MethodSpec<Context>): string {
  const [, ...others] = wireNames(spec).map((name) => `\`${name}\``)
  const alias = others.length === 0 ? '' : ` Also ${others.join(', ')}.`
  const off = spec.isOff === true ? ' Off unless the configuration allows it.' : ''
  const place = spec.isForDevelopment === true ? ' On regtest and devnet only.' : ''
  return `${spec.doc}${alias}${off}${place}`.replaceAll('|', '\\|')
}

/** Returns the descriptions of the parameters of a module, each once. */
function parametersOf(specs: readonly MethodSpec<Context>[]): string {
  const kinds = new Map<string, Set<string>>()
  for (const spec of specs) {
    for (const { name, expects } of spec.method.params.described) {
      kinds.set(name, (kinds.get(name) ?? new Set()).add(expects))
    }
  }
  if (kinds.size === 0) return ''
  const lines = [...kinds].map(([name, expects]) => `| \`${name}\` | ${[...expects].join('; or, by method, ')} |`)
  return `| Parameter | Expected |\n| --- | --- |\n${lines.join('\n').replaceAll('\\|', '|')}\n`
}

function shapeSection(title: string, schema: Described, shapes: Map<string, Described>): string[] {
  const required = new Set(schema.required)
  const lines = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    return `| \`${name}\`${required.has(name) ? '' : '?'} | ${words(member, shapes)} |`
  })
  return [`### ${title}`, '', '| Member | |', '| --- | --- |', ...lines, '']
}

/** Returns a schema in words; collects objects with a title. */
function words(schema: Described, shapes: Map<string, Described>): string {
  const { title, type, items, properties, patternProperties, anyOf } = schema
  if (type === 'object' && properties !== undefined && title !== undefined) {
    if (!shapes.has(title) && Object.keys(properties).length > 0) {
      shapes.set(title, schema)
      for (const member of Object.values(properties)) words(member, shapes)
    }
    return Object.keys(properties).length > 0 ? `[${title}](#${title.toLowerCase()})` : title
  }
  if (title !== undefined) return title
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${String(one)}\``).join(', ')
  if (anyOf !== undefined) return anyOf.map((one) => words(one, shapes)).join(' or ')
  if (type === 'array') return `array of ${words(plain([items].flat()[0] ?? {}), shapes)}`
  if (patternProperties !== undefined) {
    return `object of ${words(plain(Object.values(patternProperties)[0] ?? {}), shapes)}`
  }
  return type === undefined ? 'any JSON' : type
}

function plain(schema: TSchema | Described): Described {
  return JSON.parse(JSON.stringify(schema)) as Described
}
