import type { TSchema } from 'typebox'
import type { Entry, MethodSpec } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'

// Generates an OpenRPC document (spec.open-rpc.org) from the method table and the schemas of parameters.

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
type JsonObject = Readonly<Record<string, Json>>

/** Returns the document of the served methods; every wire name is a method. `presumesBlock` as in `DispatchSettings`. */
export function openRpcDocument(
  entries: ReadonlyMap<string, Entry<Context>>,
  version: string,
  presumesBlock: boolean,
): JsonObject {
  const schemas: Record<string, Json> = {}
  const methods = [...entries].flatMap(([name, entry]) =>
    'spec' in entry ? [methodObject(name, entry.spec, schemas, presumesBlock)] : [],
  )
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Rhizome JSON-RPC',
      description: 'A Rootstock (RSK) node.',
      version,
      license: { name: 'MIT OR Apache-2.0' },
    },
    methods,
    components: { schemas },
  }
}

function methodObject(
  name: string,
  spec: MethodSpec<Context>,
  schemas: Record<string, Json>,
  presumesBlock: boolean,
): JsonObject {
  const params = spec.method.params.described.map(({ name, expects, schema, isRequired, isPresumable }) => {
    const required = isRequired && !(presumesBlock && isPresumable)
    return { name, description: expects, required, schema: referring(schema, schemas) }
  })
  return {
    name,
    summary: spec.doc,
    tags: [{ name: spec.module }],
    paramStructure: 'by-position',
    params,
    result: { name: 'result', schema: referring(spec.method.result, schemas) },
  }
}

/** Returns a schema as JSON, with references to `components` for objects with a title. */
function referring(schema: TSchema, schemas: Record<string, Json>): Json {
  return replaced(JSON.parse(JSON.stringify(schema)) as Json, schemas)
}

function replaced(value: Json, schemas: Record<string, Json>): Json {
  if (Array.isArray(value)) return value.map((one) => replaced(one, schemas))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, schemas)]))
  const { title } = members
  if (members.type !== 'object' || typeof title !== 'string' || !/^\w+$/.test(title)) return members
  schemas[title] = members
  return { $ref: `#/components/schemas/${title}` }
}
