// The global `performance` is a getter, which costs more than this import.
import { performance } from 'node:perf_hooks'
import { type Answer, type Call, writeError, writeResult } from './envelope.ts'
import {
  contractNotAllowed,
  internalError,
  invalidRequest,
  methodNotAllowed,
  methodNotAvailable,
  methodNotFound,
  RpcError,
  responseTooLarge,
} from './errors.ts'
import { eventLoopBudget } from './eventLoopBudget.ts'
import type { Message } from './longAnswer.ts'
import { type Method, type ObjectFault, type Params, type ReadingRules, wrongArity } from './method.ts'
import type { RequestContext } from './requestContext.ts'

/** Entry of the method table. */
export interface MethodSpec<Context> {
  readonly name: string
  /** Further wire names with the same rights and limits. */
  readonly alias?: string | readonly string[]
  readonly module: string
  /** Price of a call in compute units; a read at the head costs one. */
  readonly cost: number
  /** Size of the answer if it is known in advance. Each kilobyte costs one more unit. */
  readonly answerBytes?: (context: Context) => number
  /** Returns the addresses that a call with these parameters names, null for any address. Absent: it names none. */
  readonly contracts?: (values: readonly unknown[], sent: readonly unknown[]) => readonly (string | null)[]
  /** Changes the chain or the pool: in a batch it waits for all earlier requests, and later requests wait for it. */
  readonly isWrite?: boolean
  /** Needs a WebSocket connection: unknown over HTTP and in batches, and requires a request id. */
  readonly isForSubscribers?: boolean
  /** Denied unless the configuration has a list for its module. */
  readonly isOff?: boolean
  /** Uses the accounts of this node: not for unknown clients. */
  readonly needsAccounts?: boolean
  /** Served on development networks only, even if the configuration enables its module. */
  readonly isForDevelopment?: boolean
  readonly doc: string
  readonly method: Method<Context>
}

/** Method of one wire name. */
export type Entry<Context> =
  | { readonly spec: MethodSpec<Context> /** Shorter than the time limit of requests. */; readonly timeoutMs?: number }
  /** Known but not offered. The arity is checked first, as for every method. */
  | { readonly arities: readonly number[] | 'any' | Method<Context> }

export interface DispatchSettings extends ReadingRules {
  readonly maxResponseBytes: number
  /** Messages contain the location of the fault and the expected value. */
  readonly hasHints: boolean
}

/** Use of a body so far. Shared by its calls, which may run concurrently. */
export interface BodyUse {
  /** Size of the answers. */
  bytes: number
  /** Time at which the last call returned, undefined after a pause. The next call begins at it: reading the clock is a part of its cost. */
  returnedMs: number | undefined
}

/** Called for each request after its answer. `defect` is an internal failure, for the log only. */
export type Observer = (request: {
  method: string
  elapsedMs: number
  errorCode: number | undefined
  defect: unknown
  /** Id of the request; absent for failures outside of requests. */
  request?: { readonly id: string }
}) => void

/** Members of a spec that each call needs. All instances have the same shape, which V8 reads faster. */
class Served<Context> {
  readonly name: string
  readonly spec: MethodSpec<Context>
  readonly params: Params<readonly unknown[]>
  readonly isWrite: boolean
  readonly isForSubscribers: boolean
  readonly timeoutMs: number | undefined

  constructor(name: string, spec: MethodSpec<Context>, timeoutMs: number | undefined) {
    this.name = name
    this.spec = spec
    this.params = spec.method.params
    this.isWrite = spec.isWrite === true
    this.isForSubscribers = spec.isForSubscribers === true
    this.timeoutMs = timeoutMs
  }
}

/** Answers calls from the method table. Independent of methods and sockets. */
export class Dispatcher<Context> {
  readonly #served = new Map<string, Served<Context>>()
  /** Arities of methods that are known but not offered. */
  readonly #notOffered = new Map<string, readonly number[] | 'any' | Method<Context>>()
  /** Method of the last call: calls of a batch often have the same method. */
  #last: Served<Context> | undefined
  readonly #context: Context
  readonly #settings: DispatchSettings
  readonly #observe: Observer
  readonly #objectFault: ObjectFault | undefined

  /**
   * `settings` are read at each call. `objectFault` decides, after another parameter was rejected, whether an object has a
   * fault that takes precedence.
   */
  constructor(
    entries: ReadonlyMap<string, Entry<Context>>,
    context: Context,
    settings: DispatchSettings,
    observe: Observer,
    objectFault?: ObjectFault,
  ) {
    for (const [name, entry] of entries) {
      if ('spec' in entry) this.#served.set(name, new Served(name, entry.spec, entry.timeoutMs))
      else this.#notOffered.set(name, entry.arities)
    }
    this.#context = context
    this.#settings = settings
    this.#observe = observe
    this.#objectFault = objectFault
  }

  #find(method: string): Served<Context> | undefined {
    if (this.#last?.name === method) return this.#last
    this.#last = this.#served.get(method)
    return this.#last
  }

  isWrite(method: string): boolean {
    return this.#find(method)?.isWrite === true
  }

  /** Returns the price of a call in compute units, also for unknown methods. */
  price(method: string): number {
    const spec = this.#find(method)?.spec
    if (spec === undefined) return 1
    return spec.cost + Math.ceil((spec.answerBytes?.(this.#context) ?? 0) / 1000)
  }

  /** Returns the finished answer with its envelope. `used` counts the answers of the same body. */
  answer(
    call: Call,
    request: RequestContext,
    used: BodyUse = { bytes: 0, returnedMs: undefined },
  ): Message | Promise<Message> {
    const startedMs = used.returnedMs ?? performance.now()
    let result: Answer | Promise<Answer>
    try {
      result = this.#dispatch(call, request, this.#leftBytes(used))
    } catch (error) {
      const elapsedMs = this.#spend(startedMs, used)
      return this.#fail(call, error, elapsedMs, used, request)
    }
    const elapsedMs = this.#spend(startedMs, used)
    if (!(result instanceof Promise)) return this.#succeed(call, result, elapsedMs, used, request)
    return result.then(
      (finished) => this.#succeed(call, finished, performance.now() - startedMs, used, request),
      (error: unknown) => this.#fail(call, error, performance.now() - startedMs, used, request),
    )
  }

  /** Charges the time since the start of a call that returns now. Returns that time. */
  #spend(startedMs: number, used: BodyUse): number {
    used.returnedMs = performance.now()
    const elapsedMs = used.returnedMs - startedMs
    eventLoopBudget.spend(elapsedMs)
    return elapsedMs
  }

  /** Returns the size that the next answer of a body may have. */
  #leftBytes({ bytes }: BodyUse): number {
    const { maxResponseBytes } = this.#settings
    return maxResponseBytes === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, maxResponseBytes - bytes)
  }

  #dispatch(call: Call, request: RequestContext, maxBytes: number): Answer | Promise<Answer> {
    if (request.refusal !== undefined) throw request.refusal
    const { caller } = request
    if (caller?.methods !== undefined && !caller.methods.has(call.method)) throw methodNotAllowed(call.method)
    const served = this.#find(call.method)
    if (served === undefined) throw this.#unavailable(call)
    if (served.isForSubscribers) {
      if (request.subscriber === undefined) throw methodNotFound()
      if (call.id === null || call.id === 'null')
        throw invalidRequest('invalid request', 'id: expected a string or a number')
    }
    const { spec, params, timeoutMs } = served
    const { presumesBlock } = this.#settings
    // Read once: those of a large body are parsed at each reading.
    const sent = call.params
    if (sent === undefined || !params.hasArity(sent.length, presumesBlock)) {
      throw wrongArity(call.method, params, sent?.length)
    }
    const within = timeoutMs === undefined ? request : request.within(timeoutMs)
    within.maxBytes = maxBytes
    const values = params.read(sent, this.#settings, call, this.#objectFault)
    if (caller?.contracts !== undefined) checkContracts(spec, values, sent, caller.contracts)
    return spec.method.answer(this.#context, values, within)
  }

  /** Returns the error for a method that is not served. */
  #unavailable(call: Call): Error {
    const arities = this.#notOffered.get(call.method)
    if (arities === undefined) return methodNotFound()
    const count = call.params?.length
    if (typeof arities === 'object' && 'params' in arities) {
      if (count === undefined || !arities.params.hasArity(count, this.#settings.presumesBlock))
        return wrongArity(call.method, arities.params, count)
    } else if (arities !== 'any' && (count === undefined || !arities.includes(count))) {
      return new RpcError(-32602, 'method parameters invalid')
    }
    return methodNotAvailable(call.method)
  }

  #succeed(call: Call, result: Answer, elapsedMs: number, used: BodyUse, request: RequestContext): Message {
    if (result.length > this.#leftBytes(used)) {
      return this.#fail(call, responseTooLarge(this.#settings.maxResponseBytes), elapsedMs, used, request)
    }
    this.#report(call.method, elapsedMs, undefined, undefined, request)
    return count(call, writeResult(call.id ?? 'null', result), used)
  }

  #fail(call: Call, error: unknown, elapsedMs: number, used: BodyUse, request: RequestContext): Message {
    const sent = error instanceof RpcError ? error : internalError()
    request.error = sent
    request.caller?.countError()
    this.#report(call.method, elapsedMs, sent.code, error instanceof RpcError ? error.defect : error, request)
    return count(call, writeError(call.id ?? 'null', sent, this.#settings.hasHints), used)
  }

  #report(
    method: string,
    elapsedMs: number,
    errorCode: number | undefined,
    defect: unknown,
    request: RequestContext,
  ): void {
    this.#observe({ method, elapsedMs, errorCode, defect, request })
  }
}

/** Counts the answer of a call. Notifications have none. */
function count(call: Call, answer: Message, used: BodyUse): Message {
  if (call.id !== null) used.bytes += answer.length
  return answer
}

/** Throws unless all named contracts are allowed. Null could be any address, so it is rejected. */
function checkContracts<Context>(
  spec: MethodSpec<Context>,
  values: readonly unknown[],
  sent: readonly unknown[],
  allowed: ReadonlySet<string>,
): void {
  for (const contract of spec.contracts?.(values, sent) ?? []) {
    if (contract === null || !allowed.has(contract.toLowerCase())) throw contractNotAllowed()
  }
}
