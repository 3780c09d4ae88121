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

/** More than a person reads before signing. */
const maxBytes = 131_072

/** Object or its JSON text; read as text. */
export const typedData: Kind<string> = {
  name: 'typedData',
  expects: `an object with types, primaryType, domain and message, or its JSON text, of at most ${maxBytes} bytes`,
  schema,
  read(value) {
    if (typeof value === 'string') return checked(value, () => jsonIn(value))
    if (typeof value !== 'object' || value === null) return refuse(this, 'Invalid typed data')
    return checked(JSON.stringify(value), () => value)
  },
  readLarge(text) {
    if (text.length > maxBytes) return refuse(this, 'Invalid typed data: too large')
    const json = text.bytes.toString()
    const value = jsonIn(json)
    return typeof value === 'string' ? this.read(value) : checked(json, () => value)
  },
}

/** Returns a JSON text if it is not too large and its value is valid. */
function checked(text: string, value: () => unknown): string {
  if (Buffer.byteLength(text) > maxBytes) return refuse(typedData, 'Invalid typed data: too large')
  return check.Check(value()) ? text : refuse(typedData, 'Invalid typed data')
}
