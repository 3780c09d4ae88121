import type { Logger } from './observe/log.ts'
import type { FleetFigures } from './observe/nodeFigures.ts'

const everyMs = 1000

/**
 * Logs once when the node becomes part of its fleet or begins to publish changes, each new failure, and each new fault of a message.
 * Returns a function that ends it.
 */
export function logFleet(
  figures: () =>
    | Pick<FleetFigures, 'isConnected' | 'failure' | 'lastFault' | 'log' | 'changes' | 'restore'>
    | null
    | undefined,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => void {
  let wasConnected = false
  let failure: string | null = null
  let fault: string | null = null
  let renewed = 0
  let wasHolder = false
  let changesFailure: string | null = null
  let restore: FleetFigures['restore'] = { completed: 0, done: 0, total: 0, failure: null }
  const timer = setInterval(() => {
    const now = figures()
    if (now === null || now === undefined) return
    if (now.failure !== null && now.failure !== failure)
      logger.error({ failure: now.failure }, 'the fleet is away; trying again, and serving what is stored')
    const isUp = now.isConnected && now.failure === null
    if (isUp && (!wasConnected || failure !== null))
      logger.info({ place: now.log.place }, 'the node is part of its fleet')
    if (now.lastFault !== null && now.lastFault !== fault)
      logger.warn(
        { fault: now.lastFault, damaged: now.log.damaged, invalid: now.log.invalid },
        'bad message in the fleet',
      )
    if (now.log.renewed > renewed) logger.warn('the block log was created again')
    const { isHolder = false, failure: cause = null } = now.changes ?? {}
    if (isHolder && !wasHolder) logger.info('the node publishes the stream of changes')
    if (cause !== null && cause !== changesFailure)
      logger.error({ failure: cause }, 'the node cannot publish the stream of changes; trying again')
    wasHolder = isHolder
    changesFailure = cause
    const { completed, total, failure: refused } = now.restore
    if (total > 0 && restore.total === 0) logger.info({ bytes: total }, 'restoring a checkpoint while serving')
    if (completed > restore.completed) logger.info({ completed }, 'checkpoint restored')
    if (refused !== null && refused !== restore.failure)
      logger.error({ failure: refused }, 'no checkpoint was restored; trying again')
    wasConnected = isUp
    failure = now.failure
    fault = now.lastFault
    renewed = now.log.renewed
    restore = now.restore
  }, everyMs).unref()
  return () => clearInterval(timer)
}
