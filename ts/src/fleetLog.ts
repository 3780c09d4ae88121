import type { Logger } from './observe/log.ts'
import type { FleetFigures } from './observe/nodeFigures.ts'

const everyMs = 1000

/**
 * Logs once when the node becomes part of its fleet, each new failure, and each new fault of a message. Returns a function that ends
 * it.
 */
export function logFleet(
  figures: () => Pick<FleetFigures, 'isConnected' | 'failure' | 'lastFault' | 'log'> | null | undefined,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => void {
  let wasConnected = false
  let failure: string | null = null
  let fault: string | null = null
  let renewed = 0
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
    wasConnected = isUp
    failure = now.failure
    fault = now.lastFault
    renewed = now.log.renewed
  }, everyMs).unref()
  return () => clearInterval(timer)
}
