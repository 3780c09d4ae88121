// The global `performance` is a getter, which costs more than this import.
import { performance } from 'node:perf_hooks'
import type { Caller } from './caller.ts'
import { type RpcError, timeoutError } from './errors.ts'
import { eventLoopBudget } from './eventLoopBudget.ts'
import { newRequestId } from './requestId.ts'
import type { Subscriber } from './subscriber.ts'

/** Maximum time of the inline calls of a request, such as a batch. */
const maxInlineMs = 1

let lastToken = 0
let lastConnection = 0

/** Sets the range of this worker: tokens and numbers of connections are unique in the process. */
export function startNumbersAfter(first: number, firstConnection: number): void {
  lastToken = first
  lastConnection = firstConnection
}

/** Returns the number of a new connection. The pool is fair between connections. */
export function nextConnection(): number {
  return ++lastConnection
}

/**
 * Owner of the next execution: number of the caller's account (0: none) and of the connection, and 1 in a batch. The addon reads it.
 */
export const executionOwner = new Uint32Array(3)

let executing: RequestContext | undefined

/** Returns the network of the client of the next execution. The addon calls it for executions in the pool only: reading it is not free. */
export function executionClient(): string {
  return executing?.readNetwork?.() ?? ''
}

/** Executions of a request. */
interface Executions {
  /** Tokens of executions that run in the pool. */
  tokens?: Set<number>
  /** Time of inline calls. */
  inlineMs: number
}

/** Context of one HTTP request or WebSocket message: caller, deadline, and executions to cancel when the client disconnects. */
export class RequestContext {
  isAborted = false
  /** Connection for subscriptions of this request; undefined over HTTP. */
  subscriber: Subscriber | undefined
  /** App that the request is billed to; undefined if authentication is off. */
  caller: Caller | undefined
  /** Reads the network address of the client; absent in tests without a network. */
  readNetwork: (() => string) | undefined
  /** Number of the connection in the queue of the pool: one per HTTP request or WebSocket. */
  connection = nextConnection()
  /** If set, no part of the request is executed, and this is the answer. */
  refusal: RpcError | undefined
  /** Called when the client has disconnected. */
  onAbort: (() => void) | undefined
  /** Error of the last failed call. */
  error: RpcError | undefined
  /** Bytes that the result of the call may have that is being dispatched. */
  maxBytes = Number.MAX_SAFE_INTEGER
  readonly #deadline: number
  readonly #now: () => number
  readonly #cancel: (token: number) => void
  /** Created with the first execution: most requests have none. */
  #executions: Executions | undefined
  #id: string | undefined

  /** `timeoutMs` 0 means no limit. */
  constructor(timeoutMs: number, cancel: (token: number) => void, now: () => number = () => performance.now()) {
    this.#now = now
    this.#deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : now() + timeoutMs
    this.#cancel = cancel
  }

  /** Client whose memory is limited: the app, or else the network of the request. */
  get client(): string {
    return this.caller?.app ?? this.readNetwork?.() ?? ''
  }

  /** Id of the request in the log and, if it fails, in its answer. Generated on the first read. */
  get id(): string {
    this.#id ??= newRequestId()
    return this.#id
  }

  /** Sets the id that the client has sent. */
  set id(id: string) {
    this.#id = id
  }

  /** Returns a context with less time for one method of the request. Aborting the request aborts both. */
  within(timeoutMs: number): RequestContext {
    const left = Math.min(timeoutMs, this.remainingMs() || timeoutMs)
    const part = new RequestContext(left, this.#cancel, this.#now)
    part.subscriber = this.subscriber
    part.caller = this.caller
    part.readNetwork = this.readNetwork
    part.connection = this.connection
    this.#executions ??= { inlineMs: 0 }
    part.#executions = this.#executions
    return part
  }

  /** Returns the milliseconds left, 0 for no limit. Throws if the time is over. */
  remainingMs(): number {
    return this.#remainingAt(this.#now())
  }

  #remainingAt(nowMs: number): number {
    if (this.#deadline === Number.POSITIVE_INFINITY) return 0
    const left = Math.floor(this.#deadline - nowMs)
    if (left <= 0) throw timeoutError()
    return left
  }

  /**
   * Runs an execution under the deadline of this request. `mayRunInline` is true until the inline calls of this request
   * have used `maxInlineMs`, or all requests the budget of the event loop.
   */
  run<R>(execute: (deadlineMs: number, token: number, mayRunInline: boolean) => R): R {
    const startedMs = this.#now()
    return this.#execute(startedMs, this.#remainingAt(startedMs), execute)
  }

  /** Like `run`, without the deadline, for methods whose wait has a separate limit. */
  runUnlimited<R>(execute: (deadlineMs: number, token: number, mayRunInline: boolean) => R): R {
    return this.#execute(this.#now(), 0, execute)
  }

  #execute<R>(
    startedMs: number,
    deadlineMs: number,
    execute: (deadlineMs: number, token: number, mayRunInline: boolean) => R,
  ): R {
    const token = ++lastToken
    this.#executions ??= { inlineMs: 0 }
    const executions = this.#executions
    executionOwner[0] = this.caller?.account ?? 0
    executionOwner[1] = this.connection
    executing = this
    try {
      const result = execute(deadlineMs, token, executions.inlineMs < maxInlineMs && !eventLoopBudget.isSpent)
      executions.inlineMs += this.#now() - startedMs
      return result instanceof Promise ? (wait(result, token, executions) as R) : result
    } finally {
      // A later execution outside of a request must not ask for the network of an ended request.
      executing = undefined
    }
  }

  /** Cancels running executions after the client has disconnected. */
  abort(): void {
    this.isAborted = true
    for (const token of this.#executions?.tokens ?? []) this.#cancel(token)
    this.onAbort?.()
  }
}

async function wait<T>(execution: Promise<T>, token: number, executions: Executions): Promise<T> {
  executions.tokens ??= new Set()
  const { tokens } = executions
  tokens.add(token)
  try {
    return await execution
  } finally {
    tokens.delete(token)
  }
}
