import type { Config } from './schema.ts'

/** Address of the shared server. */
export interface ServerAddress {
  /** A Unix socket; otherwise host and port are present. */
  readonly path?: string
  readonly host?: string
  readonly port?: number
  readonly hasTls: boolean
  readonly username?: string
  readonly password?: string
  readonly database: number
}

/** Parses `store.url` and `store.password`; returns undefined if they are invalid. */
export function storeAddress({ url, password }: Config['store']): ServerAddress | 'embedded' | undefined {
  if (url === 'embedded') return 'embedded'
  try {
    const parts = new URL(url)
    const isSocket = parts.protocol === 'unix:'
    const database = isSocket ? (parts.searchParams.get('db') ?? '0') : parts.pathname.slice(1) || '0'
    const target = isSocket ? socketOf(parts) : hostOf(parts)
    if (target === undefined || !/^[0-9]{1,5}$/.test(database)) return undefined
    const secret = decodeURIComponent(parts.password) || password
    return {
      ...target,
      hasTls: parts.protocol === 'rediss:',
      ...(parts.username !== '' && { username: decodeURIComponent(parts.username) }),
      ...(secret !== '' && { password: secret }),
      database: Number(database),
    }
  } catch {
    return undefined
  }
}

function socketOf({ host, pathname, search, hash }: URL): { path: string } | undefined {
  const isPlain = host === '' && hash === '' && /^(|\?db=[0-9]+)$/.test(search)
  return isPlain && pathname.length > 1 ? { path: decodeURIComponent(pathname) } : undefined
}

function hostOf({ hostname, port, search, hash }: URL): { host: string; port: number } | undefined {
  if (hostname === '' || search !== '' || hash !== '') return undefined
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 6379 : Number(port) }
}
