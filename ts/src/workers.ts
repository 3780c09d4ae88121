import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Keys } from './auth/keyring.ts'
import type { Config } from './config/schema.ts'
import { answerQuestion, type FilterPort } from './filters/port.ts'
import { ConnectionTable } from './http/connectionTable.ts'
import type { AppUse } from './observe/appUse.ts'
import type { Counters } from './observe/counters.ts'
import type { StoreHealth } from './observe/health.ts'
import type { Logger } from './observe/log.ts'
import type { FromWorker, ToWorker, WorkerStart } from './workerMessages.ts'

// The bundle stands beside this file's own bundle.
const program = new URL('./worker.js', import.meta.url)

/** The worker threads of a node: each serves HTTP and WebSocket on the shared ports. */
export class Workers {
  /** One number: the open WebSocket connections of all workers. */
  readonly openSockets = new Int32Array(new SharedArrayBuffer(4))
  readonly #workers: readonly Worker[]

  /**
   * Starts the threads with the API keys that are good now, the meters of their apps, and the counters that they count in,
   * if there are any; they load while the node opens. `onFailure` is called when one dies unexpectedly.
   */
  constructor(
    count: number,
    config: Config,
    {
      counters,
      ...given
    }: Pick<WorkerStart, 'keys' | 'meters' | 'store' | 'memory'> & { readonly counters: readonly Counters[] },
    logger: Logger,
    onFailure: (reason: string) => void,
  ) {
    if (!existsSync(program)) throw new Error(`${program.pathname} is missing. Run: npm run setup`)
    const { openSockets } = this
    const connections = new ConnectionTable().memory
    this.#workers = Array.from({ length: count }, (_none, index) => {
      const workerData: WorkerStart = {
        index,
        config,
        ...given,
        openSockets,
        connections,
        counters: counters[index]?.memory,
      }
      const worker = new Worker(program, { workerData, execArgv: [] })
      worker.on('error', (error) => {
        logger.error({ worker: index, reason: error.stack ?? error.message }, 'worker failed')
        onFailure(error.message)
      })
      return worker
    })
  }

  /** Lets all workers listen, each on the port of each address. Filter questions go to `filters`; `onShutdown` is called when a caller asks for the end, `onAppUse` with what apps asked a worker for. */
  async listen(
    ports: readonly number[],
    filters: FilterPort,
    { onShutdown, onAppUse }: { readonly onShutdown: () => void; readonly onAppUse: (use: AppUse) => void },
  ): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        worker.on('message', (message: FromWorker) => {
          if (message.kind === 'filter') void answerQuestion(filters, message).then((reply) => post(worker, reply))
          else if (message.kind === 'shutdown') onShutdown()
          else if (message.kind === 'appUse') onAppUse(message.use)
        })
        const listening = nextMessage(worker)
        post(worker, { kind: 'listen', ports })
        const message = await listening
        if (message.kind === 'failed') throw new Error(message.reason)
      }),
    )
  }

  /** Tells all workers which keys are good from now on. */
  replaceKeys(keys: Keys): void {
    for (const worker of this.#workers) post(worker, { kind: 'keys', keys })
  }

  /** Lets all workers read the certificates again. */
  renewCertificates(): void {
    for (const worker of this.#workers) post(worker, { kind: 'certificates' })
  }

  /** Tells all workers how the store is that nodes share. */
  tellStore(store: StoreHealth): void {
    for (const worker of this.#workers) post(worker, { kind: 'store', store })
  }

  /** Lets all workers take over what may change while they serve. */
  configure(config: Config): void {
    for (const worker of this.#workers) post(worker, { kind: 'configure', config })
  }

  /**
   * Ends all workers: running requests have `graceMs` to end. False when one did not end in time; it is left alone, for a
   * thread that is ended by force while it has sockets open takes the whole process down.
   */
  async stop(graceMs: number): Promise<boolean> {
    const ends = this.#workers.map(async (worker) => {
      const ended = new Promise<true>((resolve) => worker.once('exit', () => resolve(true)))
      const patience = new Promise<false>((resolve) => setTimeout(() => resolve(false), graceMs + 300).unref())
      post(worker, { kind: 'stop', graceMs })
      return worker.threadId === -1 || Promise.race([ended, patience])
    })
    return (await Promise.all(ends)).every(Boolean)
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
