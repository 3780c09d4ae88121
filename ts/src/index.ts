// The face of the package: start a node from a program.

import { loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { type RunningNode, startNode as start } from './main.ts'

/** Settings as the configuration file has them; what is left out has its default. */
export type NodeSettings = { [Section in keyof Config]?: Partial<Config[Section]> }

/** Starts the node of this process. Throws ConfigError, PortError, AddonMissing or UnsupportedSystem. */
export function startNode(settings: NodeSettings = {}): Promise<RunningNode> {
  return start(loadConfig({ settings }))
}

export { ConfigError } from './config/error.ts'
export type { Config } from './config/schema.ts'
export type { RunningNode } from './main.ts'
export { AddonMissing } from './native/load.ts'
export { UnsupportedSystem } from './native/uWebSockets.ts'
export { PortError } from './portProbe.ts'
export { RpcError } from './rpc/errors.ts'
