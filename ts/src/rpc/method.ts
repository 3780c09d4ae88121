import type { TSchema } from 'typebox'
import type { Answer, Call, CoreText } from './envelope.ts'
import { invalidParams, RpcError } from './errors.ts'
import { type Kind, readLarge } from './kind.ts'
import { LargeText } from './largeText.ts'
import type { RequestContext } from './requestContext.ts'

type Read<K> = K extends Kind<infer T> ? T : never
type Required<Kinds extends readonly Kind<unknown>[]> = { -readonly [I in keyof Kinds]: Read<Kinds[I]> }
type Optional<Kinds extends readonly Kind<unknown>[]> = { -readonly [I in keyof Kinds]: Read<Kinds[I]> | undefined }

/** Settings of the reading of parameters. */
export interface ReadingRules {
  /** Required parameters with a default may be omitted. */
  readonly presumesBlock: boolean
  /** The tags safe and finalized are blocks. */
  readonly servesDepthTags: boolean
}

/** Positional parameters of a method. */
export interface Params<T extends readonly unknown[]> {
  readonly minimum: number
  readonly maximum: number
  readonly described: readonly {
    name: string
    expects: string
    schema: TSchema
    isRequired: boolean
    /** Has a default: required only if the settings do not allow its absence. */
    isPresumable: boolean
  }[]
  /** Returns whether a number of parameters is valid. With `presumes`, trailing required parameters with a default may be absent. */
  hasArity(count: number, presumes: boolean): boolean
  /**
   * Returns the values in order, undefined for absent or null optional parameters. Objects are not checked, unless another
   * parameter has a fault: then `objectFault` decides which one is reported.
   */
  read(sent: readonly unknown[], rules: ReadingRules, source?: Pick<Call, 'paramText'>, objectFault?: ObjectFault): T
}

/** Returns the fault of an object that the core reads, by the name of its parameter. */
export type ObjectFault = (name: string, text: CoreText) => RpcError | undefined

/** Declares parameters: required, then optional ones. */
export function positional<const R extends readonly Kind<unknown>[], const O extends readonly Kind<unknown>[] = []>(
  required: R,
  optional?: O,
): Params<[...Required<R>, ...Optional<O>]> {
  const kinds: readonly Kind<unknown>[] = [...required, ...(optional ?? [])]
  const parameters = kinds.map((kind, index) => new Parameter(kind, index < required.length))
  const presumable = required.findLastIndex((kind: Kind<unknown>) => kind.whenAbsent === undefined) + 1
  return {
    minimum: required.length,
    maximum: kinds.length,
    described: kinds.map(({ name, expects, schema }, index) => {
      const isRequired = index < required.length
      return { name, expects, schema, isRequired, isPresumable: isRequired && index >= presumable }
    }),
    hasArity: (count, presumes) => count >= (presumes ? presumable : required.length) && count <= kinds.length,
    read(sent, rules, source, objectFault) {
      try {
        return readValues(parameters, sent, rules, source) as [...Required<R>, ...Optional<O>]
      } catch (error) {
        // The core reads objects later. A fault of an object may take precedence.
        if (objectFault !== undefined && kinds.some((kind) => kind.crossesAsText))
          readValues(parameters, sent, rules, source, objectFault)
        throw error
      }
    },
  }
}

/** Members of a kind that each call needs. All instances have the same shape, which V8 reads faster. */
class Parameter {
  readonly kind: Kind<unknown>
  readonly isRequired: boolean
  readonly crossesAsText: boolean
  readonly whenAbsent: unknown
  readonly hasDepthTags: boolean

  constructor(kind: Kind<unknown>, isRequired: boolean) {
    this.kind = kind
    this.isRequired = isRequired
    this.crossesAsText = kind.crossesAsText === true
    this.whenAbsent = kind.whenAbsent
    this.hasDepthTags = kind.hasDepthTags === true
  }

  /** Reads a value that was sent. */
  read(value: unknown, index: number, source: TextSource | undefined, checkObject: ObjectFault | undefined): unknown {
    if (source === undefined || !this.crossesAsText) {
      return value instanceof LargeText ? readLarge(this.kind, value) : this.kind.read(value)
    }
    const text = source.paramText(index)
    const fault = checkObject?.(this.kind.name, text)
    if (fault !== undefined) throw fault
    return text
  }
}

/** Tags of blocks below the head. */
function isDepthTag(value: unknown): boolean {
  return value === 'safe' || value === 'finalized'
}

type TextSource = Pick<Call, 'paramText'>

function readValues(
  parameters: readonly Parameter[],
  sent: readonly unknown[],
  rules: ReadingRules,
  source: TextSource | undefined,
  checkObject?: ObjectFault,
): unknown[] {
  // An empty array would get room for 16 values with the first one.
  const values = new Array<unknown>(parameters.length)
  let faults: Faults | undefined
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] as Parameter
    const value = sent[index]
    if (!parameter.isRequired && (value === undefined || value === null)) values[index] = undefined
    else if (value === undefined && rules.presumesBlock && parameter.whenAbsent !== undefined)
      values[index] = parameter.whenAbsent
    else if (parameter.hasDepthTags && rules.servesDepthTags && isDepthTag(value)) values[index] = value
    else {
      try {
        values[index] = parameter.read(value, index, source, checkObject)
      } catch (error) {
        faults ??= {}
        postpone(faults, error, value === null && parameter.kind.looksForNull !== true)
      }
    }
  }
  const fault = faults?.inUse ?? faults?.onlyHere
  if (fault !== undefined) throw fault
  return values
}

/** Late faults of parameters: faults of form in later parameters take precedence. */
interface Faults {
  /** Last fault in use: blocks are the last parameters and are looked up first. */
  inUse?: RpcError
  /** First fault that the reference does not report, null included. */
  onlyHere?: RpcError
}

function postpone(faults: Faults, error: unknown, isNull: boolean): void {
  if (!(error instanceof RpcError)) throw error
  if (error.shows === 'in use') faults.inUse = error
  else if (error.shows === 'only here' || isNull) faults.onlyHere ??= error
  else throw error
}

/** JSON-RPC method: parameters, result and handler. `Context` holds the services of the worker. */
export interface Method<Context> {
  readonly params: Params<readonly unknown[]>
  /** Schema of the result, for documents and tests. */
  readonly result: TSchema
  answer(context: Context, params: readonly unknown[], request: RequestContext): Answer | Promise<Answer>
}

/** Returns the function with which method files declare methods for a kind of context. It only connects the types. */
export function methodsOf<Context>() {
  return function defineMethod<T extends readonly unknown[]>(method: {
    params: Params<T>
    result: TSchema
    answer(context: Context, params: T, request: RequestContext): Answer | Promise<Answer>
  }): Method<Context> {
    return method as unknown as Method<Context>
  }
}

/** Returns the error for a wrong number of parameters, or for named ones. */
export function wrongArity(name: string, params: Params<readonly unknown[]>, count: number | undefined): Error {
  const names = params.described.map((one) => (one.isRequired ? one.name : `${one.name}?`)).join(', ')
  const got = count === undefined ? 'named ones' : String(count)
  const takes = params.maximum === 0 ? 'takes no parameters' : `takes [${names}]`
  return invalidParams('method parameters invalid', `${name} ${takes}, got ${got}`)
}
