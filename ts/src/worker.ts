import { parentPort, workerData } from 'node:worker_threads'
import { decidedChoices } from './config/choices.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { RemoteFilters } from './filters/port.ts'
import { HttpServer } from './http/server.ts'
import type { Context } from './methods/context.ts'
import { entriesFor, servedModules } from './methods/entries.ts'
import type { Addon } from './native/bindings.ts'
import { loadAddon } from './native/load.ts'
import { createLogger } from './observe/log.ts'
import { requestLog } from './observe/requests.ts'
import { Dispatcher } from './rpc/dispatch.ts'
import { numberTicketsFrom } from './rpc/flight.ts'
import { BodyServer } from './rpc/serve.ts'
import type { FromWorker, ToWorker, WorkerStart } from './workerMessages.ts'

/** Tickets of one worker; the main thread counts below the first. */
const ticketsPerWorker = 2 ** 40

/** Builds one worker's server. The addon and the filters are passed in, so that tests can serve without a node. */
export function createServer(
  config: Config,
  native: Addon,
  filters: Context['filters'],
  observe: ReturnType<typeof requestLog>,
): HttpServer {
  const choices = decidedChoices(config)
  const hasHints = choices.errorText === 'helpful'
  const context: Context = { native, filters, modules: servedModules(config.modules, isDevelopment(config)) }
  const dispatcher = new Dispatcher(
    entriesFor(config.modules, isDevelopment(config)),
    context,
    { maxResponseBytes: config.rpc.maxResponseBytes, hasHints },
    observe,
  )
  const bodies = new BodyServer(dispatcher, { maxBatchRequests: config.rpc.maxBatchRequests, hasHints })
  const http = {
    ...config.http,
    timeoutMs: config.rpc.timeoutMs,
    hasErrorStatus: choices.errorStatus === '400',
  }
  return new HttpServer(bodies, http, (ticket) => native.cancelTicket(ticket))
}

function run(port: NonNullable<typeof parentPort>, { index, config }: WorkerStart): void {
  const post = (message: FromWorker): void => port.postMessage(message)
  const logger = createLogger(config.log.level, `worker ${index}`)
  numberTicketsFrom((index + 1) * ticketsPerWorker)
  const native = loadAddon()
  const filters = new RemoteFilters(post)
  const server = createServer(config, native, filters, requestLog(logger, config.rpc.slowMs))

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'filter') {
      filters.receive(message)
    } else if (message.kind === 'listen') {
      server.listen(message.port).then(
        () => post({ kind: 'listening' }),
        (error: Error) => post({ kind: 'failed', reason: error.message }),
      )
    } else {
      void stop(server, message.graceMs).then(() => {
        post({ kind: 'stopped' })
        port.close()
      })
    }
  })
}

/** Takes no new connections, lets running requests end for a while, then closes all. */
async function stop(server: HttpServer, graceMs: number): Promise<void> {
  server.stopListening()
  const until = performance.now() + graceMs
  while (server.running > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
  server.close()
}

if (parentPort !== null) run(parentPort, workerData as WorkerStart)
