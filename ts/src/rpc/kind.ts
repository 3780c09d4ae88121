import type { TSchema } from 'typebox'
import { invalidParams, RpcError } from './errors.ts'
import { maxParsedBytes } from './largeBody.ts'
import type { LargeText } from './largeText.ts'

/** One kind of parameter: how it is described, and how a JSON value becomes what the addon takes. */
export interface Kind<T> {
  /** Name of the parameter, as shown in errors. */
  readonly name: string
  /** What is expected, in words. */
  readonly expects: string
  /** The accepted canonical form; lenient forms that `read` also takes are not described. */
  readonly schema: TSchema
  /** Null is a fault of form. For the other kinds it is found last, as in the reference. */
  readonly looksForNull?: true
  /** Stands for a required value that is absent, where the settings allow that. */
  readonly whenAbsent?: T
  /** Throws RpcError -32602 for a value that is not of this kind. */
  read(value: unknown): T
  /** The same for one whose text is too large to be parsed here. Absent: none is so large. */
  readLarge?(text: LargeText): T
}

/** The same kind under another parameter name. */
export function named<T>(name: string, kind: Kind<T>): Kind<T> {
  const { expects, schema, read, readLarge } = kind
  return readLarge === undefined ? { name, expects, schema, read } : { name, expects, schema, read, readLarge }
}

/** Reads a value that is too large to be parsed here. */
export function readLarge<T>(kind: Kind<T>, text: LargeText): T {
  if (kind.readLarge !== undefined) return kind.readLarge(text)
  const hint = `${kind.name}: expected at most ${maxParsedBytes} bytes, got ${text.bytes.length}`
  throw invalidParams(`Invalid ${kind.name}: too large`, hint)
}

/** The refusal of a value: `message` in the words of the reference, the hint in ours. */
export function refuse(kind: { readonly name: string; readonly expects: string }, message: string): never {
  throw invalidParams(message, `${kind.name}: expected ${kind.expects}`)
}

/**
 * The refusal of a value that the reference reads and then cannot use, or of one that it takes and only this node refuses.
 * Faults of form come first, also those of later parameters, then faults in use.
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

/** Reads a member of an object parameter; a refusal then names the member by its path. */
export function readMember<T>(owner: string, kind: Kind<T>, value: unknown): T {
  try {
    return kind.read(value)
  } catch (error) {
    if (error instanceof RpcError && error.hint !== undefined) error.hint = `${owner}.${error.hint}`
    throw error
  }
}

/** A value the way messages quote it: text as it is, anything else by its first JSON token. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return quotedNumber(value)
  if (Array.isArray(value)) return '['
  if (typeof value === 'object' && value !== null) return '{'
  return String(value)
}

/** Numbers with an exponent are written as Java writes them. */
function quotedNumber(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`
}

/** A member of an object parameter as the text that the reference takes it for. */
export function memberText(value: unknown): string {
  return typeof value === 'object' && value !== null ? '' : quoted(value)
}

/** Cuts an overlong value for a message. */
export function shortened(text: string, limit = 66): string {
  return text.length > limit ? `${text.slice(0, limit)}...` : text
}
