import { isIP } from 'node:net'
import { ConfigError } from './error.ts'
import { dataDirOf, isDevelopment, isReplica, provenBlocksOf } from './network.ts'
import type { Config } from './schema.ts'

/** Ports and hosts of the public networks (docs/spec/p2p.md, 1.2). */
const publicNetworks: Readonly<Record<string, { port: number; bootnodes: readonly string[] }>> = {
  mainnet: { port: 5050, bootnodes: hosts(16, 'rsk.co:5050') },
  testnet: { port: 50505, bootnodes: hosts(8, 'testnet.rsk.co:50505') },
}

const enode = /^enode:\/\/[0-9a-fA-F]{128}@(.+)$/
const hostAndPort = /^(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.%]+\]):([1-9][0-9]{0,4})$/

/** Settings of the addon's `startNetwork`. */
export interface NetworkSettings {
  readonly host: string
  /** Null: no listener. */
  readonly port: number | null
  readonly peers: readonly string[]
  readonly bootnodes: readonly string[]
  readonly hasDiscovery: boolean
  readonly maxPeers: number
  readonly nodeKey: string | null
  readonly publicIp: string | null
  readonly servesSnap: boolean
  /** Whether a new chain gets a state from peers instead of executing all blocks. */
  readonly downloadsState: boolean
  readonly dataDir: string | null
}

/** Returns the settings of the network; undefined if the node runs without peers. Throws ConfigError. */
export function networkSettings(config: Config): NetworkSettings | undefined {
  if (isReplica(config)) return undefined
  const { p2p } = config
  const known = config.chain === '' ? publicNetworks[config.network] : undefined
  const port = p2p.port ?? known?.port ?? 0
  if (port === 0 && p2p.peers.length === 0) return undefined
  const host = p2p.host ?? (isDevelopment(config) ? '127.0.0.1' : '0.0.0.0')
  const problems = [
    ...(isIP(host) === 0 ? [`p2p.host: expected an IPv4 or IPv6 address, got ${JSON.stringify(host)}`] : []),
    ...(p2p.publicIp !== '' && isIP(p2p.publicIp) === 0
      ? [`p2p.publicIp: expected an IPv4 or IPv6 address, got ${JSON.stringify(p2p.publicIp)}`]
      : []),
    ...(p2p.sync === 'snap' && provenBlocksOf(config) === null
      ? ['p2p.sync: snap needs storage.proofs = NUMBER: a state from peers has no earlier versions']
      : []),
    ...p2p.peers
      .filter((url) => !isHost(enode.exec(url)?.[1]))
      .map((url) => `p2p.peers: expected enode://ID@HOST:PORT, got ${JSON.stringify(url)}`),
    ...(p2p.bootnodes ?? [])
      .filter((text) => !isHost(enode.exec(text)?.[1] ?? text))
      .map((text) => `p2p.bootnodes: expected HOST:PORT or an enode URL, got ${JSON.stringify(text)}`),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    host,
    port: port === 0 ? null : port,
    peers: p2p.peers,
    bootnodes: (p2p.bootnodes ?? known?.bootnodes ?? []).map((text) => enode.exec(text)?.[1] ?? text),
    hasDiscovery: p2p.discovery === '' ? !isDevelopment(config) : p2p.discovery === 'on',
    maxPeers: p2p.maxPeers,
    nodeKey: p2p.nodeKey === '' ? null : p2p.nodeKey,
    publicIp: p2p.publicIp === '' ? null : p2p.publicIp,
    servesSnap: p2p.snapServer,
    downloadsState: p2p.sync === 'snap',
    dataDir: dataDirOf(config),
  }
}

function isHost(text: string | undefined): boolean {
  const port = hostAndPort.exec(text ?? '')?.[1]
  return port !== undefined && Number(port) <= 65535
}

/** Returns the names of numbered hosts: bootstrap01 and so on. */
function hosts(count: number, domain: string): string[] {
  return Array.from({ length: count }, (_, at) => `bootstrap${String(at + 1).padStart(2, '0')}.${domain}`)
}
