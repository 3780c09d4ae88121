// The public API of the package: starts a node from a program.

import { loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { startNode as start } from './main.ts'
import type { RunningNode } from './runningNode.ts'

/** Settings, with the names of the configuration file; absent settings have their defaults. */
export type NodeSettings = { [Section in keyof Config]?: Partial<Config[Section]> }

/** Starts the node of this process. Throws ConfigError, PortError, AddonMissing or UnsupportedSystem. */
export async function startNode(settings: NodeSettings = {}): Promise<RunningNode> {
  const { url, port, urls, metricsUrl, adminUrl, explorerUrl, failure, shutdown, stop } = await start(
    loadConfig({ settings }),
  )
  return { url, port, urls, metricsUrl, adminUrl, explorerUrl, failure, shutdown, stop }
}

export { ConfigError } from './config/error.ts'
export { AddonMissing, UnsupportedSystem } from './native/error.ts'
export { PortError } from './portProbe.ts'
export { RpcError } from './rpc/errors.ts'
export type { RunningNode } from './runningNode.ts'
