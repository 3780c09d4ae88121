import { isAddressRange } from './addressRanges.ts'
import { hasWallet, isDevelopment, originsOf } from './network.ts'
import type { Config } from './schema.ts'

/** An address that the node listens on. */
export interface Address {
  /** Where it stands in the configuration: `http`, `listen.0`, ... */
  readonly path: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** Strangers may reach it: what could harm the node or its accounts is not served. */
  readonly isPublic: boolean
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  /** Files of the certificate and its key; undefined: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** 0: no limit. */
  readonly maxConnectionsPerIp: number
  /** What this address alone says of modules. */
  readonly modules: Config['modules']
}

const publicConnectionsPerIp = 256

/** All addresses, that of `[http]` first. */
export function addressesOf(config: Config): readonly [Address, ...Address[]] {
  const http = { ...config.http, cors: originsOf(config) }
  const more = config.listen.map((one, index) => {
    const { cors = http.cors, hosts = http.hosts, maxConnectionsPerIp = http.maxConnectionsPerIp } = one
    return address(`listen.${index}`, { ...one, cors, hosts, maxConnectionsPerIp })
  })
  return [address('http', http), ...more]
}

interface Given extends Omit<Config['listen'][number], 'access' | 'cors' | 'maxConnectionsPerIp'> {
  readonly cors?: readonly string[]
  readonly access?: string
  readonly maxConnectionsPerIp?: number | undefined
}

function address(path: string, given: Given): Address {
  const {
    host = '127.0.0.1',
    port,
    access = '',
    cors = [],
    hosts = [],
    tlsCert = '',
    tlsKey = '',
    modules = {},
  } = given
  const isPublic = access === '' ? !isLoopback(host) : access === 'public'
  return {
    path,
    host,
    port,
    isPublic,
    cors,
    hosts,
    tls: tlsCert === '' ? undefined : { cert: tlsCert, key: tlsKey },
    maxConnectionsPerIp: given.maxConnectionsPerIp ?? (isPublic ? publicConnectionsPerIp : 0),
    modules,
  }
}

/** The first address that others than this machine can reach. */
export function reachableAddress(config: Config): Address | undefined {
  return addressesOf(config).find(({ host }) => !isLoopback(host))
}

/** What the schema cannot say about addresses. */
export function addressProblems(config: Config): string[] {
  const addresses = addressesOf(config)
  const problems = config.http.trustedProxies
    .filter((text) => !isAddressRange(text))
    .map((text) => `http.trustedProxies: expected addresses and ranges like 10.0.0.0/8, got ${JSON.stringify(text)}`)
  for (const { path, tlsCert = '', tlsKey = '' } of [
    { path: 'http', ...config.http },
    ...config.listen.map((one, index) => ({ path: `listen.${index}`, ...one })),
  ]) {
    if (tlsCert !== '' && tlsKey === '') problems.push(`${path}.tlsKey: is needed beside tlsCert`)
    if (tlsKey !== '' && tlsCert === '') problems.push(`${path}.tlsCert: is needed beside tlsKey`)
  }
  const places = new Map<string, string>()
  for (const { path, host, port } of addresses) {
    const place = `${host}:${port}`
    const other = places.get(place)
    if (other !== undefined && port !== 0) problems.push(`${path}: ${place} is the address of ${other} already`)
    places.set(place, path)
  }
  const exposed = addresses.find((one) => !isLoopback(one.host) && servesAccounts(one))
  if (exposed !== undefined && !isDevelopment(config) && hasWallet(config) && !config.walletExposed) {
    problems.push(
      `wallet: whoever reaches ${exposed.path}.host ${exposed.host} could use its accounts; walletExposed = true allows that`,
    )
  }
  return problems
}

/** Accounts can be used there: on a public address only when its own settings open a module that does so. */
function servesAccounts({ isPublic, modules }: Address): boolean {
  return !isPublic || modules.personal?.enabled === true || (modules.eth?.allow ?? modules.eth?.deny) !== undefined
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)
}
