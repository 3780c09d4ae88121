import { parentPort, workerData } from 'node:worker_threads'
import { Keyring } from './auth/keyring.ts'
import { MethodGroups } from './auth/methodGroups.ts'
import { addressesOf } from './config/addresses.ts'
import { isDevelopment, memoryLimitOf } from './config/network.ts'
import { RemoteFilters } from './filters/port.ts'
import { methodGroups, servedMethods } from './methods/entries.ts'
import { loadAddon } from './native/load.ts'
import { AppUseCounter } from './observe/appUse.ts'
import { Counters } from './observe/counters.ts'
import { createLogger } from './observe/log.ts'
import { watchLoopDelay } from './observe/loopDelay.ts'
import { type FinishedRequest, requestLog } from './observe/requests.ts'
import { MemoryBudget } from './rpc/memoryBudget.ts'
import { executionClient, executionOwner, startNumbersAfter } from './rpc/requestContext.ts'
import { createServer } from './server.ts'
import type { FromWorker, ToWorker, WorkerStart } from './workerMessages.ts'

/** Range of cancellation tokens of one worker; the main thread uses the numbers below. */
const tokensPerWorker = 2 ** 40
/** Range of connection numbers of one worker: 32 bits for up to 256 workers. Numbers may repeat. */
const connectionsPerWorker = 2 ** 24

function run(
  port: NonNullable<typeof parentPort>,
  {
    index,
    config,
    keys,
    meters,
    store: firstStore,
    openSockets,
    mayBeFork,
    connections,
    memory: cells,
    counters: memory,
  }: WorkerStart,
): void {
  const post = (message: FromWorker): void => port.postMessage(message)
  const logger = createLogger(config.log.level, `worker ${index}`)
  startNumbersAfter((index + 1) * tokensPerWorker, index * connectionsPerWorker)
  const native = loadAddon()
  native.shareOwner(executionOwner, executionClient)
  const filters = new RemoteFilters(post)
  const keyring = new Keyring(keys, meters, new MethodGroups(methodGroups()))
  const logged = { slowMs: config.rpc.slowMs }
  const log = requestLog(logger, logged)
  const counters =
    memory && new Counters(servedMethods(config.modules, isDevelopment(config), addressesOf(config)), memory)
  if (counters !== undefined) watchLoopDelay(counters, () => native.threadCpuMs() ?? performance.now())
  const appUse =
    counters && config.admin.enabled ? new AppUseCounter((use) => post({ kind: 'appUse', use })) : undefined
  const observe = (request: FinishedRequest): void => {
    const app = request.request?.caller?.app
    if (appUse !== undefined && app !== undefined) {
      appUse.count(app, counters?.nameOf(request.method) ?? request.method, request.errorCode !== undefined)
    }
    log(request)
  }
  let store = firstStore
  const server = createServer({
    config,
    native,
    keyring,
    filters,
    observe,
    shutdown: () => post({ kind: 'shutdown' }),
    openSockets,
    mayBeFork,
    memory: new MemoryBudget(cells, index + 1, memoryLimitOf(config)),
    connections,
    counters,
    store: () => store,
  })

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'filter') {
      filters.receive(message)
    } else if (message.kind === 'keys') {
      keyring.replace(message.keys)
    } else if (message.kind === 'store') {
      store = message.store
    } else if (message.kind === 'configure') {
      logger.level = message.config.log.level
      logged.slowMs = message.config.rpc.slowMs
      server.configure(message.config)
    } else if (message.kind === 'certificates') {
      server.renewCertificates().catch((error: Error) => {
        logger.error({ reason: error.message }, 'certificates could not be reloaded; keeping the current ones')
      })
    } else if (message.kind === 'listen') {
      server.listen(...message.ports).then(
        () => post({ kind: 'listening' }),
        (error: Error) => post({ kind: 'failed', reason: error.message }),
      )
    } else {
      void server.stop(message.graceMs).then(() => {
        appUse?.stop()
        post({ kind: 'stopped' })
        port.close()
      })
    }
  })
}

if (parentPort !== null) run(parentPort, workerData as WorkerStart)
