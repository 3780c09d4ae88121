import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { invalidParams, overloaded, timeoutError } from '../rpc/errors.ts'
import type { HashResult } from './typedDataThread.ts'

// Structured data is hashed by a library whose time and memory grow with the square of some inputs, and which cannot be
// interrupted. So it runs in a separate thread with a memory limit, and the thread is terminated after the time limit.

/** Time limit of one hash. A few hundred structures take some milliseconds. */
const maxHashMs = 5000
const maxWaiting = 16
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

/** Started at the first use, and again after a termination. */
let thread: Worker | undefined
let last: Promise<unknown> = Promise.resolve()
let waiting = 0

/** Returns the signing hash of structured data, given as JSON text. `deadlineMs` 0: only the limit of the thread applies. */
export async function hashTypedData(text: string, deadlineMs: number): Promise<string> {
  if (waiting >= maxWaiting) throw overloaded()
  waiting++
  const until = deadlineMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + deadlineMs
  const result = last.then(() => hashNow(text, Math.min(maxHashMs, until - performance.now())))
  last = result.catch(() => undefined)
  try {
    return await result
  } finally {
    waiting--
  }
}

function hashNow(text: string, leftMs: number): Promise<string> {
  if (leftMs <= 0) throw timeoutError()
  thread ??= start()
  const worker = thread
  return new Promise((resolve, reject) => {
    const onMessage = (answer: HashResult): void => {
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
  // An error event without a listener would terminate the node.
  worker.on('error', () => undefined)
  worker.unref()
  return worker
}
