// The global of this name is looked up through a getter each time.
import { Buffer } from 'node:buffer'
import { bodyText } from './bodyText.ts'

import type { BodyUse } from './dispatch.ts'
import { type Call, type Parsed, parse, type Refused, writeBatch, writeError } from './envelope.ts'
import { code, overloaded, RpcError } from './errors.ts'
import { eventLoopBudget } from './eventLoopBudget.ts'
import type { LargeBody } from './largeBody.ts'
import { opensMoreThan } from './levels.ts'
import type { Message } from './longAnswer.ts'
import type { MemoryBudget, Reservation } from './memoryBudget.ts'
import { executionOwner, type RequestContext } from './requestContext.ts'
import { readSplit } from './split.ts'

export interface ServeSettings {
  readonly maxBatchRequests: number
  readonly hasHints: boolean
}

/** Reply to a body. No answer: the body had only notifications. */
export interface Reply {
  readonly answer: Message | undefined
  /** Error if the whole answer is one. */
  readonly error: RpcError | undefined
}

const nothing: Reply = { answer: undefined, error: undefined }

/** Answers single calls. */
export interface Answerer {
  isWrite(method: string): boolean
  /** Returns the price in compute units. */
  price(method: string): number
  answer(call: Call, request: RequestContext, used?: BodyUse): Message | Promise<Message>
}

/** Bytes that a compute unit pays for. A body below this size costs nothing by its bytes. */
const bytesPerUnit = 4096
/** Maximum size of a light request, in bytes. */
const lightBytes = 4096
/** Answers of a batch are counted in steps of this size, in bytes. Smaller batches are not counted. */
const countedBytes = 64 * 1024
/** Lists and objects of a body that is parsed on a worker. More of them take longer to parse than to split. */
const maxOpened = 2000
const openObject = 0x7b

function notText(): RpcError {
  return new RpcError(code.parseError, 'JSON parse error')
}

/** Answers bodies: one request or a batch. */
export class BodyServer {
  readonly #dispatcher: Answerer
  readonly #settings: ServeSettings
  /** Counts the answers of batches until the reply is complete. */
  readonly #memory: MemoryBudget
  /** Opens a large body. */
  readonly openLarge: () => LargeBody

  constructor(dispatcher: Answerer, settings: ServeSettings, memory: MemoryBudget, openLarge: () => LargeBody) {
    this.#dispatcher = dispatcher
    this.#settings = settings
    this.#memory = memory
    this.openLarge = openLarge
  }

  /**
   * Answers a body. The caller is charged for the bytes before they are read. A small body may be reused after this returns.
   */
  serve(body: Buffer | LargeBody, request: RequestContext): Reply | Promise<Reply> {
    const { caller } = request
    if (caller === undefined || request.refusal !== undefined) return this.#serve(body, request)
    const refusal = caller.enter(Math.floor(body.length / bytesPerUnit))
    if (refusal !== undefined) {
      caller.countRefused()
      return this.#refuseUnread(body, refusal, request)
    }
    const reply = this.#serve(body, request)
    if (!caller.isCountedWhileRunning) return reply
    if (reply instanceof Promise) return reply.finally(() => caller.leave())
    caller.leave()
    return reply
  }

  #serve(body: Buffer | LargeBody, request: RequestContext): Reply | Promise<Reply> {
    if (!Buffer.isBuffer(body)) {
      const { refusal } = request
      if (refusal !== undefined) return this.#wholeError(refusal)
      return eventLoopBudget.run('heavy', () => this.#serveLarge(body, request))
    }
    if (body.length <= lightBytes) return this.#serveSmall(body, request)
    // Decoding and counting are part of the work: in one turn, bodies of many connections arrive.
    if (!eventLoopBudget.mustWait('heavy')) return eventLoopBudget.run('heavy', () => this.#serveMedium(body, request))
    const copy = Buffer.from(body)
    return eventLoopBudget.later('heavy', () => this.#serveMedium(copy, request))
  }

  #serveSmall(body: Buffer, request: RequestContext): Reply | Promise<Reply> {
    const text = bodyText(body)
    if (text === undefined) return this.#wholeError(notText())
    const size = text.charCodeAt(0) === openObject ? 'light' : 'heavy'
    return eventLoopBudget.run(size, () => this.#servePaid(parse(text, this.#settings.maxBatchRequests), request))
  }

  /** Answers a body between a light and a large one. It may be reused after this returns. */
  #serveMedium(body: Buffer, request: RequestContext): Reply | Promise<Reply> {
    const text = bodyText(body)
    if (text === undefined) return this.#wholeError(notText())
    if (opensMoreThan(maxOpened, text)) return this.#serveOutside(body, request)
    return this.#servePaid(parse(text, this.#settings.maxBatchRequests), request)
  }

  /** Answers a body that takes long to parse although it is small. */
  async #serveOutside(body: Buffer, request: RequestContext): Promise<Reply> {
    const large = this.openLarge()
    large.add(body)
    try {
      return await this.#serveLarge(large, request)
    } finally {
      large.close()
    }
  }

  async #serveLarge(body: LargeBody, request: RequestContext): Promise<Reply> {
    const { maxBatchRequests } = this.#settings
    try {
      const spans = await request.run((deadlineMs, token) => body.split(maxBatchRequests, deadlineMs, token))
      if (request.isAborted) return nothing
      const serve = () => this.#servePaid(readSplit(body, spans.toString(), maxBatchRequests), request)
      return await eventLoopBudget.run('heavy', serve)
    } catch (error) {
      // The time of the request was over.
      if (error instanceof RpcError) return this.#wholeError(error)
      throw error
    }
  }

  /** Charges all requests before the first one is executed. */
  #servePaid(parsed: Parsed, request: RequestContext): Reply | Promise<Reply> {
    if (request.isAborted) return nothing
    const { caller } = request
    if (caller === undefined || request.refusal !== undefined) return this.#serveParsed(parsed, request)
    const calls = parsed.kind === 'batch' ? parsed.calls : [parsed.call]
    let units = 0
    for (const call of calls) units += 'error' in call ? 1 : this.#dispatcher.price(call.method)
    const refusal = caller.pay(calls.length, units)
    if (refusal === undefined) return this.#serveParsed(parsed, request)
    caller.countRefused()
    return this.#refuse(parsed, refusal, request)
  }

  /** Rejects a body. Reads a small body for the ids of its requests. */
  #refuseUnread(body: Buffer | LargeBody, error: RpcError, request: RequestContext): Reply | Promise<Reply> {
    const text = Buffer.isBuffer(body) ? bodyText(body) : undefined
    if (text === undefined) return this.#wholeError(error)
    const refuse = () => this.#refuse(parse(text, this.#settings.maxBatchRequests), error, request)
    return eventLoopBudget.run('heavy', refuse)
  }

  #wholeError(error: RpcError): Reply {
    return { answer: writeError('null', error, this.#settings.hasHints), error }
  }

  /** Over HTTP the status rejects the whole batch. On a WebSocket each request gets a separate error. */
  #refuse(parsed: Parsed, error: RpcError, { subscriber }: RequestContext): Reply {
    const write = ({ id }: Call | Refused): string => writeError(id ?? 'null', error, this.#settings.hasHints)
    if (parsed.kind === 'single') {
      const isUnanswered = parsed.call.id === null && subscriber !== undefined
      return { answer: isUnanswered ? undefined : write(parsed.call), error }
    }
    if (subscriber === undefined) return { answer: writeError('null', error, this.#settings.hasHints), error }
    return { answer: writeBatch(parsed.calls.filter(({ id }) => id !== null).map(write)), error }
  }

  #serveParsed(parsed: Parsed, request: RequestContext): Reply | Promise<Reply> {
    if (parsed.kind === 'batch') return this.#serveBatch(parsed.calls, request)
    const { call } = parsed
    if ('error' in call) {
      request.caller?.countError()
      return { answer: writeError(call.id, call.error, this.#settings.hasHints), error: call.error }
    }
    const answer = this.#dispatcher.answer(call, request)
    if (answer instanceof Promise) return answer.then((finished) => replyTo(call, finished, request))
    return replyTo(call, answer, request)
  }

  #serveBatch(calls: readonly (Call | Refused)[], request: RequestContext): Reply | Promise<Reply> {
    // Like the reference, which accepts subscriptions outside of batches only.
    request.subscriber = undefined
    const batch: Batch = {
      calls,
      answers: new Array(calls.length),
      used: { bytes: 0, returnedMs: undefined },
      running: [],
      held: undefined,
    }
    const waiting = this.#answerFrom(batch, 0, request)
    if (waiting !== undefined) return waiting.finally(() => batch.held?.release()).then(() => replyToAll(batch))
    batch.held?.release()
    return replyToAll(batch)
  }

  /**
   * Answers a batch from an index on. Reads run concurrently; a write waits for all earlier requests, and later requests
   * wait for it. Returns undefined if all requests are answered, else a promise.
   */
  #answerFrom(batch: Batch, first: number, request: RequestContext): Promise<unknown> | undefined {
    batch.used.returnedMs = undefined
    for (let index = first; index < batch.calls.length && !request.isAborted; index++) {
      const call = batch.calls[index] as Call | Refused
      if ('error' in call) {
        request.caller?.countError()
        batch.answers[index] = writeError(call.id, call.error, this.#settings.hasHints)
        continue
      }
      if (index > first && eventLoopBudget.isSpent)
        return eventLoopBudget.later('heavy', () => this.#answerFrom(batch, index, request))
      const isWrite = this.#dispatcher.isWrite(call.method)
      if (isWrite && batch.running.length > 0) {
        const before = Promise.all(batch.running)
        batch.running = []
        return before.then(() => this.#answerFrom(batch, index, request))
      }
      executionOwner[2] = 1
      const answer = this.#dispatcher.answer(call, request, batch.used)
      executionOwner[2] = 0
      if (!(answer instanceof Promise)) {
        this.#store(batch, index, call, answer, request)
        continue
      }
      const stored = answer.then((finished) => this.#store(batch, index, call, finished, request))
      if (isWrite) return stored.then(() => this.#answerFrom(batch, index + 1, request))
      batch.running.push(stored)
    }
    return batch.running.length === 0 ? undefined : Promise.all(batch.running)
  }

  /** Stores an answer, or rejects this call and the following ones if the client holds too much memory. */
  #store(batch: Batch, index: number, call: Call, answer: Message, request: RequestContext): void {
    if (call.id === null) return
    // A write is done, and its answer is short.
    if (this.#hasRoom(batch, request) || this.#dispatcher.isWrite(call.method)) {
      batch.answers[index] = answer
      return
    }
    batch.used.bytes -= answer.length
    const error = overloaded()
    request.refusal = error
    request.error = error
    request.caller?.countError()
    batch.answers[index] = writeError(call.id, error, this.#settings.hasHints)
  }

  /** Counts the answers of a batch. Returns false if a limit is exceeded. */
  #hasRoom(batch: Batch, request: RequestContext): boolean {
    const steps = Math.floor(batch.used.bytes / countedBytes)
    if (steps === 0) return true
    batch.held ??= this.#memory.open(request.client)
    return batch.held.resize(steps * countedBytes)
  }
}

/** State of a batch. */
interface Batch {
  readonly calls: readonly (Call | Refused)[]
  readonly answers: (Message | undefined)[]
  readonly used: BodyUse
  /** Reads without an answer. */
  running: Promise<void>[]
  /** Bytes of the answers; undefined while they are few. */
  held: Reservation | undefined
}

function replyToAll({ answers }: Batch): Reply {
  return { answer: writeBatch(answers.filter((answer) => answer !== undefined)), error: undefined }
}

function replyTo(call: Call, answer: Message, request: RequestContext): Reply {
  return call.id === null ? nothing : { answer, error: request.error }
}
