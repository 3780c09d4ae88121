import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { ConfigError } from './error.ts'
import { isFork } from './network.ts'
import type { Config } from './schema.ts'

/** Settings of the addon's `startFleet`. */
export interface FleetSettings {
  readonly role: 'importer' | 'replica'
  readonly url: string
  /** File with user and password, or a token. */
  readonly credentials: string | null
  readonly tlsAuthorities: string | null
  readonly tlsCertificate: string | null
  readonly tlsKey: string | null
  readonly requiresTls: boolean
  readonly name: string
  readonly version: string
  readonly blockRetentionSeconds: number
  readonly streamCopies: number
  /** Contents of the stream of changes; none: this node does not publish it. */
  readonly changes: readonly string[]
}

/** Returns the settings of the fleet; undefined without one. Throws ConfigError. */
export function fleetSettings(config: Config, version: string): FleetSettings | undefined {
  const { fleet, p2p } = config
  if (fleet.role === 'standalone') return undefined
  const isReplica = fleet.role === 'replica'
  const mines = config.mining !== '' && config.mining !== 'off'
  const problems = [
    ...(fleet.url === '' ? ['fleet.url: a node of a fleet needs the URL of a NATS server'] : []),
    ...(isFork(config) ? ['fleet.role: a fork has a chain of its own and cannot be part of a fleet'] : []),
    ...(isReplica && p2p.peers.length > 0 ? ['p2p.peers: a replica has no peers: it takes blocks from importers'] : []),
    ...(isReplica && p2p.port !== undefined && p2p.port !== 0
      ? ['p2p.port: a replica has no peers: it takes blocks from importers']
      : []),
    ...(isReplica && mines ? [`mining: a replica does not mine, expected off, got ${config.mining}`] : []),
    ...((fleet.tlsCert === '') !== (fleet.tlsKey === '')
      ? ['fleet.tlsCert and fleet.tlsKey: expected both or none']
      : []),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  const path = (text: string) => (text === '' ? null : text)
  return {
    role: fleet.role,
    url: fleet.url,
    credentials: path(fleet.credentials),
    tlsAuthorities: path(fleet.tlsCa),
    tlsCertificate: path(fleet.tlsCert),
    tlsKey: path(fleet.tlsKey),
    requiresTls: fleet.url.startsWith('tls://'),
    name: fleet.name === '' ? ownName() : fleet.name,
    version,
    blockRetentionSeconds: fleet.retentionDays * 86_400,
    streamCopies: fleet.streamCopies,
    changes: fleet.changes,
  }
}

/** Returns the name of the machine with a random number: several nodes may run on it. */
function ownName(): string {
  const machine = hostname()
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 50)
  return `${machine}-${randomBytes(4).toString('hex')}`
}
