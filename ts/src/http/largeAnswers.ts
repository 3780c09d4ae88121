import type { HttpResponse } from 'uWebSockets.js'
import { eventLoopBudget } from '../rpc/eventLoopBudget.ts'
import { LongAnswer } from '../rpc/longAnswer.ts'
import type { MemoryBudget, Reservation } from '../rpc/memoryBudget.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import { ended, isLastOf, type Outgoing, onAborted, send, writeHead } from './reply.ts'

/** Buffer for the part of an answer to write next. It can be reused when `tryEnd` has returned. */
const part = Buffer.allocUnsafeSlow(256 * 1024)
/** Smaller answers fit into the send buffer of a connection, or nearly so. */
const largeBytes = 256 * 1024
/**
 * The same limit for the last answer of a connection. uWebSockets continues to read requests while a part of the last
 * answer is unwritten.
 */
const lastLargeBytes = 32 * 1024

export interface LargeAnswerSettings {
  /** Time for a client to take a large answer; 0: no limit. */
  readonly writeMs: number
  /** Limit of the large answers of the worker that clients have not read yet. */
  readonly maxUnreadBytes: number
}

/** Sends large answers in parts, with limits of time and of unread bytes. */
export class LargeAnswers {
  readonly #settings: LargeAnswerSettings
  readonly #memory: MemoryBudget
  readonly #releaseBuffers: (buffers: readonly Buffer[]) => void
  #unreadBytes = 0

  /** `releaseBuffers` frees buffers that were sent. */
  constructor(
    settings: LargeAnswerSettings,
    memory: MemoryBudget,
    releaseBuffers: (buffers: readonly Buffer[]) => void,
  ) {
    this.#settings = settings
    this.#memory = memory
    this.#releaseBuffers = releaseBuffers
  }

  /** Sends an answer of any size; replaces `onAborted`. Sends `busy` instead if there are too many unread bytes. */
  send(
    response: HttpResponse,
    outgoing: Outgoing,
    context: Pick<RequestContext, 'client'>,
    busy: () => Outgoing,
  ): void {
    const { body } = outgoing
    const isSmall = body === undefined || body.length < (isLastOf(response) ? lastLargeBytes : largeBytes)
    if (isSmall) {
      send(response, outgoing)
      return
    }
    const isFull = this.#unreadBytes + body.length > this.#settings.maxUnreadBytes
    const held = isFull ? undefined : this.#memory.reserve(context.client, body.length)
    if (held === undefined) send(response, busy())
    else this.#sendLarge(response, outgoing, body instanceof LongAnswer ? body : new LongAnswer([body]), held)
  }

  #sendLarge(response: HttpResponse, outgoing: Outgoing, body: LongAnswer, held: Reservation): void {
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    let hasHead = false
    const isLast = isLastOf(response)
    this.#unreadBytes += body.length
    const finish = (): void => {
      isOver = true
      this.#releaseBuffers(body.buffers)
      held.release()
      clearTimeout(timer)
      this.#unreadBytes -= body.length
    }
    onAborted(response, finish)
    let isScheduled = false
    /** Writes the next part, and schedules another until the send buffer is full. */
    const writePart = (): void => {
      isScheduled = false
      if (isOver) return
      let isTaken = false
      ended(response, () => {
        let isDone = false
        response.cork(() => {
          if (!hasHead) writeHead(response, outgoing)
          if (!hasHead && isLast) response.writeHeader('Connection', 'close')
          hasHead = true
          // `tryEnd` cannot close the connection, so it is paused until its timeout: no further request is read.
          if (isLast) response.pause()
          const offset = response.getWriteOffset()
          const length = body.copy(offset, part)
          ;[isTaken, isDone] = response.tryEnd(part.subarray(0, length), body.length)
        })
        if (isDone) finish()
        return isDone
      })
      if (isTaken) schedule()
    }
    const schedule = (): void => {
      if (isScheduled || isOver) return
      isScheduled = true
      // Never in the step of the previous part, whose time would not be charged.
      void eventLoopBudget.later('heavy', writePart)
    }
    const { writeMs } = this.#settings
    if (writeMs > 0) timer = setTimeout(() => response.close(), writeMs)
    response.onWritable(() => {
      schedule()
      // Nothing was written here, so uWebSockets has nothing to retry.
      return true
    })
    schedule()
  }
}
