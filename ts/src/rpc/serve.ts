import { type Answer, type Call, parse, type Refused, writeBatch, writeError } from './envelope.ts'
import type { RpcError } from './errors.ts'
import type { Flight } from './flight.ts'

export interface ServeSettings {
  readonly maxBatchRequests: number
  readonly hasHints: boolean
}

/** What a body is answered with. No answer: there were only notifications. */
export interface Reply {
  readonly answer: Answer | undefined
  /** The error when the whole answer is one. */
  readonly error: RpcError | undefined
}

const nothing: Reply = { answer: undefined, error: undefined }

/** What answers single calls. */
export interface Answerer {
  isWrite(method: string): boolean
  answer(call: Call, flight: Flight, usedBytes?: number): Answer | Promise<Answer>
}

/** Answers bodies: one request or a batch. */
export class BodyServer {
  readonly #dispatcher: Answerer
  readonly #settings: ServeSettings

  constructor(dispatcher: Answerer, settings: ServeSettings) {
    this.#dispatcher = dispatcher
    this.#settings = settings
  }

  serve(body: string, flight: Flight): Reply | Promise<Reply> {
    const parsed = parse(body, this.#settings.maxBatchRequests)
    if (parsed.kind === 'batch') return this.#serveBatch(parsed.calls, flight)
    const { call } = parsed
    if ('error' in call) {
      return { answer: writeError(call.id, call.error, this.#settings.hasHints), error: call.error }
    }
    const answer = this.#dispatcher.answer(call, flight)
    if (answer instanceof Promise) return answer.then((finished) => replyTo(call, finished, flight))
    return replyTo(call, answer, flight)
  }

  /** Reads run side by side; a write waits for those before it and holds up those after it. */
  async #serveBatch(calls: readonly (Call | Refused)[], flight: Flight): Promise<Reply> {
    // As in the reference: subscriptions are made alone.
    flight.subscriber = undefined
    const answers: (Answer | undefined)[] = new Array(calls.length)
    let running: Promise<void>[] = []
    let usedBytes = 0
    for (const [index, call] of calls.entries()) {
      if (flight.isAborted) break
      if ('error' in call) {
        answers[index] = writeError(call.id, call.error, this.#settings.hasHints)
        continue
      }
      const isWrite = this.#dispatcher.isWrite(call.method)
      if (isWrite) await Promise.all(running)
      const answer = this.#dispatcher.answer(call, flight, usedBytes)
      const store = (finished: Answer): void => {
        if (call.id === null) return
        answers[index] = finished
        usedBytes += finished.length
      }
      if (!(answer instanceof Promise)) store(answer)
      else if (isWrite) store(await answer)
      else running.push(answer.then(store))
      if (isWrite) running = []
    }
    await Promise.all(running)
    return { answer: writeBatch(answers.filter((answer) => answer !== undefined)), error: undefined }
  }
}

function replyTo(call: Call, answer: Answer, flight: Flight): Reply {
  return call.id === null ? nothing : { answer, error: flight.error }
}
