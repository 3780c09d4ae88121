// Writes the types of the package for programs that import it, without types of bundled packages.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'

/** Exported modules of the package, which import no inner modules. */
const sources = [
  'ts/src/runningNode.ts',
  'ts/src/config/error.ts',
  'ts/src/native/error.ts',
  'ts/src/portProbe.ts',
  'ts/src/rpc/errors.ts',
  'ts/src/verify/index.ts',
  'ts/src/bridge/developmentBridge.ts',
]

const face = `import type { NodeSettings } from './settings.js'
import type { RunningNode } from './runningNode.js'

/** Starts the node of this process; a process can have one node. Throws ConfigError, PortError, AddonMissing or UnsupportedSystem. */
export declare function startNode(settings?: NodeSettings): Promise<RunningNode>

export type { NodeSettings, RunningNode }
export { ConfigError } from './config/error.js'
export { AddonMissing, UnsupportedSystem } from './native/error.js'
export { PortError } from './portProbe.js'
export { RpcError } from './rpc/errors.js'
`

/** Writes the declarations into `place`. `schema` is that of the configuration. */
export async function declare(root, place, schema) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const form = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--strict', '--skipLibCheck']
  const output = ['--declaration', '--emitDeclarationOnly', '--rewriteRelativeImportExtensions', '--stripInternal']
  const places = ['--rootDir', 'ts/src', '--outDir', place]
  await run(process.execPath, [tsc, '--ignoreConfig', ...sources, ...form, ...output, ...places], { cwd: root })
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'index.d.ts'), face)
  const text = `/** Settings as the configuration file has them; what is left out has its default. */\nexport interface NodeSettings ${members(schema, '')}\n`
  writeFileSync(join(place, 'settings.d.ts'), text)
}

/** Writes a JSON schema as a type. Settings have defaults, so only the required members of list elements are required. */
function typeOf(schema, indent, isElement = false) {
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value).replaceAll('"', "'")).join(' | ')
  if (schema.type === 'array') return `readonly ${inBrackets(typeOf(schema.items, indent, true))}[]`
  if (schema.patternProperties !== undefined) {
    return `{ readonly [name: string]: ${typeOf(Object.values(schema.patternProperties)[0], indent)} }`
  }
  if (schema.properties !== undefined) return members(schema, indent, isElement ? (schema.required ?? []) : [])
  return schema.type === 'integer' ? 'number' : schema.type
}

function members({ properties }, indent, required = []) {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, schema]) => {
    const { description = '', default: preset } = schema
    const value = preset === undefined || preset === '' ? '' : ` Default: ${JSON.stringify(preset)}.`
    const text = `${description}${typeof preset === 'object' ? '' : value}`.trim().replaceAll('*/', '*\\/')
    const sign = required.includes(name) ? '' : '?'
    const comment = text === '' ? [] : [`${inner}/** ${text} */`]
    return [...comment, `${inner}readonly ${name}${sign}: ${typeOf(schema, inner)}`]
  })
  return ['{', ...lines, `${indent}}`].join('\n')
}

function inBrackets(type) {
  return type.includes(' | ') ? `(${type})` : type
}
