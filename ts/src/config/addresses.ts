import { isAddressRange } from './addressRanges.ts'
import { hasWallet, isDevelopment, originsOf } from './network.ts'
import type { Config } from './schema.ts'

/** An address that the node listens on. */
export interface Address {
  /** Its section in the configuration: `http`, `listen.0`, ... */
  readonly path: string
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** Untrusted clients may reach it: methods that could harm the node or its accounts are not served. */
  readonly isPublic: boolean
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  /** Files of the certificate and its key; undefined: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** 0: no limit. */
  readonly maxConnectionsPerIp: number
  /** Module settings of this address only. */
  readonly modules: Config['modules']
}

const publicConnectionsPerIp = 256

/** Returns all addresses, that of `[http]` first. */
export function addressesOf(config: Config): readonly [Address, ...Address[]] {
  const http = { ...config.http, cors: originsOf(config) }
  const more = config.listen.map((one, index) => {
    const { cors = http.cors, hosts = http.hosts, maxConnectionsPerIp = http.maxConnectionsPerIp } = one
    return address(`listen.${index}`, { ...one, cors, hosts, maxConnectionsPerIp })
  })
  return [address('http', http), ...more]
}

/** The settings of `[http]` or of a `[[listen]]`, with defaults of `[http]`. */
interface AddressSettings extends Omit<Config['listen'][number], 'access' | 'cors' | 'maxConnectionsPerIp'> {
  readonly cors?: readonly string[]
  readonly access?: string
  readonly maxConnectionsPerIp?: number | undefined
}

function address(path: string, settings: AddressSettings): Address {
  const {
    host = '127.0.0.1',
    port,
    access = '',
    cors = [],
    hosts = [],
    tlsCert = '',
    tlsKey = '',
    modules = {},
  } = settings
  const isPublic = access === '' ? !isLoopback(host) : access === 'public'
  return {
    path,
    host,
    port,
    isPublic,
    cors,
    hosts,
    tls: tlsCert === '' ? undefined : { cert: tlsCert, key: tlsKey },
    maxConnectionsPerIp: settings.maxConnectionsPerIp ?? (isPublic ? publicConnectionsPerIp : 0),
    modules,
  }
}

/** Returns the first address that other machines can reach. */
export function reachableAddress(config: Config): Address | undefined {
  return addressesOf(config).find(({ host }) => !isLoopback(host))
}

/** Returns problems of addresses that the schema cannot express. */
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
  const endpoints = new Map<string, string>()
  for (const { path, host, port } of addresses) {
    const endpoint = `${host}:${port}`
    const other = endpoints.get(endpoint)
    if (other !== undefined && port !== 0) problems.push(`${path}: ${endpoint} is the address of ${other} already`)
    endpoints.set(endpoint, path)
  }
  const exposed = addresses.find((one) => !isLoopback(one.host) && servesAccounts(one))
  if (exposed !== undefined && !isDevelopment(config) && hasWallet(config) && !config.walletExposed) {
    problems.push(
      `wallet: any client of ${exposed.path}.host ${exposed.host} could use its accounts; walletExposed = true allows that`,
    )
  }
  return problems
}

/** Returns whether an address serves methods that use accounts: a public address only if its own settings enable them. */
function servesAccounts({ isPublic, modules }: Address): boolean {
  return !isPublic || modules.personal?.enabled === true || (modules.eth?.allow ?? modules.eth?.deny) !== undefined
}

/** Returns whether only this machine can reach an address to listen on. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)
}
