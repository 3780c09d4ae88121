import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Config } from './config/schema.ts'
import { answerQuestion, type FilterPort } from './filters/port.ts'
import type { Logger } from './observe/log.ts'
import type { FromWorker, ToWorker, WorkerStart } from './workerMessages.ts'

// The bundle stands beside this file's own bundle.
const program = new URL('./worker.js', import.meta.url)

/** The worker threads of a node: each serves HTTP on the shared port. */
export class Workers {
  readonly #workers: readonly Worker[]

  /** Starts the threads; they load while the node opens. `onFailure` is called when one dies unexpectedly. */
  constructor(count: number, config: Config, logger: Logger, onFailure: (reason: string) => void) {
    if (!existsSync(program)) throw new Error(`${program.pathname} is missing. Run: npm run setup`)
    this.#workers = Array.from({ length: count }, (_none, index) => {
      const worker = new Worker(program, { workerData: { index, config } satisfies WorkerStart })
      worker.on('error', (error) => {
        logger.error({ worker: index, reason: error.stack ?? error.message }, 'worker failed')
        onFailure(error.message)
      })
      return worker
    })
  }

  /** Lets all workers listen on one port. Filter questions go to `filters`. */
  async listen(port: number, filters: FilterPort): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        worker.on('message', (message: FromWorker) => {
          if (message.kind === 'filter') void answerQuestion(filters, message).then((reply) => post(worker, reply))
        })
        const listening = nextMessage(worker)
        post(worker, { kind: 'listen', port })
        const message = await listening
        if (message.kind === 'failed') throw new Error(message.reason)
      }),
    )
  }

  /** Ends all workers: gently for `graceMs`, then by force. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
        post(worker, { kind: 'stop', graceMs })
        const patience = new Promise<void>((resolve) => setTimeout(resolve, graceMs + 300).unref())
        await Promise.race([ended, patience])
        await worker.terminate()
      }),
    )
  }
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message)
}

function nextMessage(worker: Worker): Promise<FromWorker> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromWorker): void => {
      if (message.kind === 'filter') return
      worker.off('message', onMessage)
      worker.off('error', reject)
      resolve(message)
    }
    worker.on('message', onMessage)
    worker.once('error', reject)
  })
}
