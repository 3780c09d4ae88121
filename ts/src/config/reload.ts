import { leaves, valueAt } from './leaves.ts'
import type { Config } from './schema.ts'

/** Settings that a running node applies at a reload; all others are read at the start only. */
export const liveSettings: readonly string[] = [
  'http.cors',
  'http.hosts',
  'http.maxBodyBytes',
  'http.bodyMs',
  'http.writeMs',
  'http.maxUnreadBytes',
  'http.compression',
  'ws.maxConnections',
  'ws.maxRequests',
  'rpc.maxBatchRequests',
  'rpc.timeoutMs',
  'rpc.maxResponseBytes',
  'rpc.slowMs',
  'health.maxHeadAgeSeconds',
  'health.maxLagBlocks',
  'log.level',
]

export interface Reloaded {
  /** The running configuration with the applied settings. */
  readonly config: Config
  /** Names of the applied settings. */
  readonly changed: readonly string[]
  /** Names of changed settings that need a restart. */
  readonly waiting: readonly string[]
}

/** Merges a newly read configuration into that of a running node. */
export function reload(running: Config, fresh: Config): Reloaded {
  const config = structuredClone(running)
  const paths = [...leaves.map(({ path }) => path), 'http.modules', 'listen', 'modules']
  const differing = paths.filter(
    (path) => JSON.stringify(valueAt(running, path)) !== JSON.stringify(valueAt(fresh, path)),
  )
  const changed = differing.filter((path) => liveSettings.includes(path))
  for (const path of changed) {
    const [section = '', name = ''] = path.split('.')
    const target = (config as unknown as Record<string, Record<string, unknown>>)[section]
    if (target !== undefined) target[name] = valueAt(fresh, path)
  }
  return { config, changed, waiting: differing.filter((path) => !changed.includes(path)) }
}
