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

/** Texts above this size are checked by the thread that hashes them only: a worker would serve no other caller in that time. */
const maxCheckedBytes = 8192

/** Object or its JSON text; read as text, which `typedDataIn` checks. */
export const typedData: Kind<string> = {
  name: 'typedData',
  expects: `an object with types, primaryType, domain and message, or its JSON text, of at most ${maxBytes} bytes`,
  schema,
  read(value) {
    if (typeof value === 'string') {
      if (isCheckedHere(allowedBytes(value))) typedDataIn(value)
      return value
    }
    if (typeof value !== 'object' || value === null) return refuse(this, 'Invalid typed data')
    const text = JSON.stringify(value)
    if (isCheckedHere(allowedBytes(text))) checked(value)
    return text
  },
  readLarge(text) {
    if (text.length > maxBytes) return refuse(this, 'Invalid typed data: too large')
    return text.bytes.toString()
  },
}

/** Reads the text of a parameter: an object, or a string with the JSON text of an object. Throws RpcError. */
export function typedDataIn(text: string): TypedData {
  const value = jsonIn(text)
  return checked(typeof value === 'string' ? jsonIn(value) : value)
}

/** Returns data with all members. Throws RpcError if one is missing or of another type. */
function checked(data: unknown): TypedData {
  return check.Check(data) ? data : refuse(typedData, 'Invalid typed data')
}

/** Returns the size of a text in bytes. Throws RpcError if it is too large. */
function allowedBytes(text: string): number {
  const bytes = Buffer.byteLength(text)
  return bytes > maxBytes ? refuse(typedData, 'Invalid typed data: too large') : bytes
}

/** Whether data of this size is checked before its text goes to the thread. */
function isCheckedHere(bytes: number): boolean {
  return bytes <= maxCheckedBytes
}
