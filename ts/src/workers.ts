import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Keys } from './auth/keyring.ts'
import { isFork } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { answerQuestion, type FilterPort } from './filters/port.ts'
import { ConnectionTable } from './http/connectionTable.ts'
import type { AppUse } from './observe/appUse.ts'
import type { Counters } from './observe/counters.ts'
import type { StoreHealth } from './observe/health.ts'
import type { Logger } from './observe/log.ts'
import type { FromWorker, ToWorker, WorkerStart } from './workerMessages.ts'

// The bundle of the worker is next to the bundle of this file.
const program = new URL('./worker.js', import.meta.url)

/** The worker threads of a node. Each serves HTTP and WebSocket on the shared ports. */
export class Workers {
  /** One shared number: the open WebSocket connections of all workers. */
  readonly openSockets = new Int32Array(new SharedArrayBuffer(4))
  readonly #workers: readonly Worker[]

  /**
   * Starts the threads, which load while the node opens. `counters` is empty if requests are not counted. `onFailure` is
   * called when a thread fails.
   */
  constructor(
    count: number,
    config: Config,
    {
      counters,
      ...shared
    }: Pick<WorkerStart, 'keys' | 'meters' | 'store' | 'memory'> & { readonly counters: readonly Counters[] },
    logger: Logger,
    onFailure: (reason: string) => void,
  ) {
    if (!existsSync(program)) throw new Error(`${program.pathname} is missing. Run: npm run setup`)
    const { openSockets } = this
    const mayBeFork = new Int32Array(new SharedArrayBuffer(4)).fill(isFork(config) ? 1 : 0)
    const connections = new ConnectionTable().memory
    this.#workers = Array.from({ length: count }, (_none, index) => {
      const workerData: WorkerStart = {
        index,
        config,
        ...shared,
        openSockets,
        mayBeFork,
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

  /**
   * Lets all workers listen on the port of each address. `filters` answers their requests about filters. `onShutdown` is
   * called when a caller requests the shutdown, `onAppUse` with the requests of apps.
   */
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

  /** Sends the valid keys to all workers. */
  replaceKeys(keys: Keys): void {
    for (const worker of this.#workers) post(worker, { kind: 'keys', keys })
  }

  /** Makes all workers read the certificates again. */
  renewCertificates(): void {
    for (const worker of this.#workers) post(worker, { kind: 'certificates' })
  }

  /** Sends the state of the shared store to all workers. */
  setStoreHealth(store: StoreHealth): void {
    for (const worker of this.#workers) post(worker, { kind: 'store', store })
  }

  /** Sends a changed configuration to all workers. */
  configure(config: Config): void {
    for (const worker of this.#workers) post(worker, { kind: 'configure', config })
  }

  /**
   * Stops all workers after at most `graceMs` for running requests. Resolves to false if a worker did not stop in time. It
   * is not terminated, because terminating a thread with open sockets crashes the process.
   */
  async stop(graceMs: number): Promise<boolean> {
    const ends = this.#workers.map(async (worker) => {
      const ended = new Promise<true>((resolve) => worker.once('exit', () => resolve(true)))
      const timeout = new Promise<false>((resolve) => setTimeout(() => resolve(false), graceMs + 300).unref())
      post(worker, { kind: 'stop', graceMs })
      return worker.threadId === -1 || Promise.race([ended, timeout])
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
