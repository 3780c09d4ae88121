import type { TSchema } from 'typebox'
import type { CoreText } from './envelope.ts'
import { invalidParams, RpcError } from './errors.ts'
import { maxParsedBytes } from './largeBody.ts'
import type { LargeText } from './largeText.ts'

/** Kind of parameter: its description, and the conversion of a JSON value for the addon. */
export interface Kind<T> {
  /** Name of the parameter, as shown in errors. */
  readonly name: string
  /** Expected value, in words. */
  readonly expects: string
  /** Accepted canonical form; lenient forms that `read` also accepts are not described. */
  readonly schema: TSchema
  /** Null is a fault of form. For other kinds it is reported last, as in the reference. */
  readonly looksForNull?: true
  /** Default of a required parameter, used if the settings allow its absence. */
  readonly whenAbsent?: T
  /** Also takes the tags safe and finalized, unchanged, if the settings serve them; `read` refuses them. */
  readonly hasDepthTags?: true
  /** Converts a value. Throws RpcError -32602 if it is not of this kind. */
  read(value: unknown): T
  /** The JSON text crosses to the core as it was sent, which reads it; `read` is not called. */
  readonly crossesAsText?: true
  /** Converts a value whose text is too large to be parsed here. Absent: rejected. */
  readLarge?(text: LargeText): T
}

/** Declares an object that crosses to the core as it was sent. The core reads it. */
export function objectText(name: string, expects: string, schema: TSchema): Kind<CoreText> {
  return { name, expects, schema, crossesAsText: true, read: (value) => JSON.stringify(value) }
}

/** Returns the kind with another parameter name. */
export function named<T>(name: string, kind: Kind<T>): Kind<T> {
  const { expects, schema, read, readLarge, hasDepthTags } = kind
  return {
    name,
    expects,
    schema,
    read,
    ...(readLarge !== undefined && { readLarge }),
    ...(hasDepthTags !== undefined && { hasDepthTags }),
  }
}

/** Converts a value that is too large to be parsed here. Throws RpcError -32602 if the kind has no `readLarge`. */
export function readLarge<T>(kind: Kind<T>, text: LargeText): T {
  if (kind.readLarge !== undefined) return kind.readLarge(text)
  const hint = `${kind.name}: expected at most ${maxParsedBytes} bytes, got ${text.length}`
  throw invalidParams(`Invalid ${kind.name}: too large`, hint)
}

/** Throws the error for a value: `message` repeats the reference, the hint is specific to this node. */
export function refuse(kind: { readonly name: string; readonly expects: string }, message: string): never {
  throw invalidParams(message, `${kind.name}: expected ${kind.expects}`)
}

/**
 * Throws a late fault: of a value that the reference reads and then cannot use, or that only this node rejects. Faults of
 * form take precedence, also those of later parameters, then faults in use.
 */
export function refuseLate(
  kind: { readonly name: string; readonly expects: string },
  message: string,
  shows: 'in use' | 'only here',
): never {
  const error = invalidParams(message, `${kind.name}: expected ${kind.expects}`)
  error.shows = shows
  throw error
}

/** Reads a member of an object parameter. The hint of an error contains the path of the member. */
export function readMember<T>(owner: string, kind: Kind<T>, value: unknown): T {
  try {
    return kind.read(value)
  } catch (error) {
    if (error instanceof RpcError && error.hint !== undefined) error.hint = `${owner}.${error.hint}`
    throw error
  }
}

/** Returns a value as messages quote it: text unchanged, other values by their first JSON token. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return quotedNumber(value)
  if (Array.isArray(value)) return '['
  if (typeof value === 'object' && value !== null) return '{'
  return String(value)
}

/** Writes numbers with an exponent in the form of Java. */
function quotedNumber(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`
}

/** Returns a member of an object parameter as text, like the reference: objects are empty. */
export function memberText(value: unknown): string {
  return typeof value === 'object' && value !== null ? '' : quoted(value)
}

/** Shortens a value for a message. */
export function shortened(text: string, limit = 66): string {
  return text.length > limit ? `${text.slice(0, limit)}...` : text
}
