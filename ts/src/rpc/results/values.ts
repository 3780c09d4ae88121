import { type TObject, type TProperties, type TSchema, Type } from 'typebox'

// Parts of results. An object with a title is described once, under that name.

/** Lower case hex without leading zeros. */
export const quantity = Type.String({ title: 'QUANTITY', pattern: '^0x(0|[1-9a-f][0-9a-f]*)$' })
/** Two lower case digits per byte. */
export const data = Type.String({ title: 'DATA', pattern: '^0x([0-9a-f]{2})*$' })
export const hash = bytesOf(32)
export const address = bytesOf(20)
export const text = Type.String()
export const flag = Type.Boolean()
export const whole = Type.Integer()
export const nothing = Type.Null()
/** Hex without prefix. */
export const bareHex = Type.String({ title: 'hex digits', pattern: '^[0-9a-f]*$' })
export const anything = Type.Unknown()

/** DATA of a fixed length. */
export function bytesOf(length: number): TSchema {
  return Type.String({ title: `DATA(${length})`, pattern: `^0x[0-9a-f]{${2 * length}}$` })
}

export function listOf(element: TSchema): TSchema {
  return Type.Array(element)
}

export function orNull(schema: TSchema): TSchema {
  return Type.Union([schema, nothing])
}

/** Object with exactly these members. */
export function shape<T extends TProperties>(title: string, members: T): TObject<T> {
  return Type.Object(members, { title, additionalProperties: false })
}

/** Object with any names and values of one kind. */
export function named(keys: string, value: TSchema): TSchema {
  return Type.Record(Type.String({ pattern: keys }), value, { additionalProperties: false })
}
