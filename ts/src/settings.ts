import { type Address, addressesOf } from './config/addresses.ts'
import { decidedChoices } from './config/choices.ts'
import { timeoutOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { maxPayloadFactor } from './ws/settings.ts'

/** Settings of one address. Read at each request, so that a reload applies at once. */
export type Settings = ReturnType<typeof settingsAt>

/** Returns the settings of each address. */
export function settingsOf(config: Config): readonly Settings[] {
  return addressesOf(config).map((address) => settingsAt(config, address))
}

/** Updates running settings in place. The number of addresses never changes. */
export function replaceSettings(running: readonly Settings[], config: Config): void {
  const fresh = settingsOf(config)
  for (const [index, settings] of running.entries()) {
    for (const part of ['dispatch', 'bodies', 'http', 'ws'] as const) {
      Object.assign(settings[part], fresh[index]?.[part])
    }
  }
}

/**
 * Returns the bytes that incomplete WebSocket messages may take in addition to `limits.memoryMegabytes`. uWebSockets
 * assembles a message by itself and does not report how much of it has arrived, so its bytes cannot be counted: each
 * connection may have up to twice the limit of a message, see `maxPayloadFactor`.
 */
export function maxIncompleteMessageBytes(config: Config): number {
  if (!config.ws.enabled) return 0
  const largest = Math.max(...settingsOf(config).map(({ ws }) => ws.maxMessageBytes))
  return config.ws.maxConnections * maxPayloadFactor * largest
}

/** Default limits of request bodies and messages, in bytes. */
const largestBody = { public: 1_048_576, private: 5_242_880 }

function settingsAt(config: Config, { cors, hosts, isPublic }: Address) {
  const choices = decidedChoices(config)
  const hasHints = choices.errorText === 'helpful'
  const { maxResponseBytes, maxBatchRequests } = config.rpc
  const timeoutMs = timeoutOf(config)
  const largest = isPublic ? largestBody.public : largestBody.private
  const { maxBodyBytes = largest } = config.http
  const { maxMessageBytes = largest } = config.ws
  return {
    dispatch: {
      maxResponseBytes,
      hasHints,
      presumesBlock: choices.absentBlock === 'latest',
      servesDepthTags: choices.depthTags === 'serve',
    },
    bodies: { maxBatchRequests, hasHints },
    http: {
      ...config.http,
      maxBodyBytes,
      cors,
      hosts,
      timeoutMs,
      headWaitMs: config.fleet.headWaitMs,
      hasErrorStatus: choices.errorStatus === '400',
    },
    ws: { ...config.ws, maxMessageBytes, timeoutMs },
  }
}
