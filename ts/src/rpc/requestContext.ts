// The global of this name is looked up through a getter each time.
import { performance } from 'node:perf_hooks'
import type { Caller } from './caller.ts'
import { type RpcError, timeoutError } from './errors.ts'
import { eventLoopBudget } from './eventLoopBudget.ts'
import { newRequestId } from './requestId.ts'
import type { Subscriber } from './subscriber.ts'

/** Of all executions of a request, a batch for example, so much may hold up the thread. */
const maxInlineMs = 1

let lastToken = 0
let lastConnection = 0

/** Tokens must be unique in the process, and so should be the numbers of connections: each worker counts in a range of its own. */
export function startNumbersAfter(first: number, firstConnection: number): void {
  lastToken = first
  lastConnection = firstConnection
}

/** A number for a connection: the pool lets connections take turns. */
export function nextConnection(): number {
  return ++lastConnection
}

/** On whose account the next execution runs: the number of the caller's account (0: none), and of the connection. Read by the core. */
export const executionOwner = new Uint32Array(2)

/** What was executed for a request. */
interface Executions {
  /** Of what still runs in the pool. */
  tokens?: Set<number>
  /** How long the thread was held up. */
  inlineMs: number
}

/** One HTTP request or WebSocket message on its way: its deadline, and the executions to cancel when the client hangs up. */
export class RequestContext {
  isAborted = false
  /** The connection that subscriptions of this request belong to; none over HTTP. */
  subscriber: Subscriber | undefined
  /** On whose account it goes; undefined where nobody is asked who he is. */
  caller: Caller | undefined
  /** Reads the network address of the client; absent in tests without a network. */
  readNetwork: (() => string) | undefined
  /** Where its executions wait: an HTTP request for itself, those of a WebSocket together. */
  connection = nextConnection()
  /** When set, nothing of this request is executed: this is the answer. */
  refusal: RpcError | undefined
  /** The last request that failed. */
  error: RpcError | undefined
  readonly #deadline: number
  readonly #now: () => number
  readonly #cancel: (token: number) => void
  /** Made with the first execution: most requests have none. */
  #executions: Executions | undefined
  #id: string | undefined

  /** `timeoutMs` 0 means no limit. */
  constructor(timeoutMs: number, cancel: (token: number) => void, now: () => number = () => performance.now()) {
    this.#now = now
    this.#deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : now() + timeoutMs
    this.#cancel = cancel
  }

  /** The client whose memory counts as one: the app, or else the network that the request comes from. */
  get client(): string {
    return this.caller?.app ?? this.readNetwork?.() ?? ''
  }

  /** What the request is called in the log and, when it fails, in its answer; made when somebody wants to know. */
  get id(): string {
    this.#id ??= newRequestId()
    return this.#id
  }

  /** The caller has a name for it. */
  set id(id: string) {
    this.#id = id
  }

  /** The same request with less time, for one of its methods: the client hangs up on both. */
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

  /** Milliseconds left, 0 for no limit. Throws when the time is used up. */
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
   * Runs an execution under this request's deadline. `mayRunInline` says that it may run at once on this thread if it is
   * short: that is so until the executions of the request, or requests together, have held up the thread for a while.
   */
  run<R>(execute: (deadlineMs: number, token: number, mayRunInline: boolean) => R): R {
    const startedMs = this.#now()
    const deadlineMs = this.#remainingAt(startedMs)
    const token = ++lastToken
    this.#executions ??= { inlineMs: 0 }
    const executions = this.#executions
    executionOwner[0] = this.caller?.account ?? 0
    executionOwner[1] = this.connection
    const result = execute(deadlineMs, token, executions.inlineMs < maxInlineMs && !eventLoopBudget.isSpent)
    executions.inlineMs += this.#now() - startedMs
    return result instanceof Promise ? (wait(result, token, executions) as R) : result
  }

  /** The client is gone: nobody waits for what still runs. */
  abort(): void {
    this.isAborted = true
    for (const token of this.#executions?.tokens ?? []) this.#cancel(token)
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
