import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../jsonText.ts'
import { type Kind, refuse } from '../kind.ts'

/** Structured data to sign (EIP-712). */
export interface TypedData {
  readonly types: Record<string, { name: string; type: string }[]>
  readonly primaryType: string
  readonly domain: Record<string, unknown>
  readonly message: Record<string, unknown>
}

const schema = Type.Object({
  types: Type.Record(Type.String(), Type.Array(Type.Object({ name: Type.String(), type: Type.String() }))),
  primaryType: Type.String(),
  domain: Type.Record(Type.String(), Type.Unknown()),
  message: Type.Record(Type.String(), Type.Unknown()),
})
const check = Compile(schema)

/** The object itself, or its JSON text. */
export const typedData: Kind<TypedData> = {
  name: 'typedData',
  expects: 'an object with types, primaryType, domain and message, or its JSON text',
  schema,
  read(value) {
    const data = typeof value === 'string' ? jsonIn(value) : value
    return check.Check(data) ? data : refuse(this, 'Invalid typed data')
  },
}
