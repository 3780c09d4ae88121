import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { invalidParams, overloaded, timeoutError } from '../rpc/errors.ts'
import type { Hashed } from './typedDataThread.ts'

// Structured data is hashed by a library whose time and memory grow with the square of some inputs, and which cannot be
// interrupted. So it works on a thread of its own, with a limit of memory, that is ended when the time is over.

/** A few hundred structures take some milliseconds. */
const longestMs = 5000
const mostWaiting = 16
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

/** Started with the first use, and again after it was ended. */
let thread: Worker | undefined
let last: Promise<unknown> = Promise.resolve()
let waiting = 0

/** The hash that is signed for structured data, given as JSON text. `deadlineMs` 0: no other limit than that of the thread. */
export async function hashTypedData(text: string, deadlineMs: number): Promise<string> {
  if (waiting >= mostWaiting) throw overloaded()
  waiting++
  const until = deadlineMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + deadlineMs
  const turn = last.then(() => hashNow(text, Math.min(longestMs, until - performance.now())))
  last = turn.catch(() => undefined)
  try {
    return await turn
  } finally {
    waiting--
  }
}

function hashNow(text: string, leftMs: number): Promise<string> {
  if (leftMs <= 0) throw timeoutError()
  thread ??= start()
  const worker = thread
  return new Promise((resolve, reject) => {
    const onMessage = (answer: Hashed): void => {
      forget()
      if ('hash' in answer) resolve(answer.hash)
      else reject(invalidParams(answer.message, answer.hint))
    }
    const stop = (error: Error): void => {
      forget()
      thread = undefined
      void worker.terminate()
      reject(error)
    }
    const onError = (error: NodeJS.ErrnoException): void => {
      const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      stop(isFull ? invalidParams('Invalid typed data: it takes too much memory to hash') : error)
    }
    const timer = setTimeout(() => stop(timeoutError()), leftMs)
    const forget = (): void => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError)
    }
    worker.on('message', onMessage).on('error', onError)
    worker.postMessage(text)
  })
}

function start(): Worker {
  const worker = new Worker(new URL('./typedDataThread.js', import.meta.url), { resourceLimits: memory, execArgv: [] })
  // An error event without a listener would end the node.
  worker.on('error', () => undefined)
  worker.unref()
  return worker
}
