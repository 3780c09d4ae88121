import type { TSchema } from 'typebox'
import { invalidParams, RpcError } from './errors.ts'

/** One kind of parameter: how it is described, and how a JSON value becomes what the addon takes. */
export interface Kind<T> {
  /** Name of the parameter, as shown in errors. */
  readonly name: string
  /** What is expected, in words. */
  readonly expects: string
  /** The accepted canonical form; lenient forms that `read` also takes are not described. */
  readonly schema: TSchema
  /** Throws RpcError -32602 for a value that is not of this kind. */
  read(value: unknown): T
}

/** The same kind under another parameter name. */
export function named<T>(name: string, kind: Kind<T>): Kind<T> {
  return { name, expects: kind.expects, schema: kind.schema, read: kind.read }
}

/** The refusal of a value: `message` in the words of the reference, the hint in ours. */
export function refuse(kind: { readonly name: string; readonly expects: string }, message: string): never {
  throw invalidParams(message, `${kind.name}: expected ${kind.expects}`)
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
  if (Array.isArray(value)) return '['
  if (typeof value === 'object' && value !== null) return '{'
  return String(value)
}

/** Cuts an overlong value for a message. */
export function shortened(text: string, limit = 66): string {
  return text.length > limit ? `${text.slice(0, limit)}...` : text
}
