import type { App } from './app.ts'

/** An app as the CLI and the admin API show it: without hashes of keys, times in ISO 8601. */
export interface AppView extends Omit<App, 'createdAt' | 'revokedAt' | 'keys'> {
  /** `expired`: no key is valid. */
  readonly state: 'active' | 'expired' | 'revoked'
  readonly createdAt: string
  readonly revokedAt: string | null
  readonly keys: readonly { readonly createdAt: string; readonly expiresAt: string | null }[]
}

/** Endpoint URLs of a key. Each contains the key. */
export interface KeyUrls {
  readonly http: string
  readonly httpV2: string
  readonly webSocket: string
  readonly webSocketV2: string
}

export function appView({ keys, revokedAt, createdAt, ...described }: App, now: number): AppView {
  const hasKey = keys.some(({ expiresAt }) => expiresAt === null || now < expiresAt)
  return {
    ...described,
    state: revokedAt !== null ? 'revoked' : hasKey ? 'active' : 'expired',
    createdAt: isoTime(createdAt),
    revokedAt: revokedAt === null ? null : isoTime(revokedAt),
    keys: keys.map((key) => ({
      createdAt: isoTime(key.createdAt),
      expiresAt: key.expiresAt === null ? null : isoTime(key.expiresAt),
    })),
  }
}

/** Returns the URLs of a key below `base`, e.g. `https://rpc.example.org`. */
export function keyUrls(base: string, key: string): KeyUrls {
  const http = base.replace(/\/+$/, '')
  const socket = http.replace(/^http/, 'ws')
  return {
    http: `${http}/${key}`,
    httpV2: `${http}/v2/${key}`,
    webSocket: `${socket}/${key}`,
    webSocketV2: `${socket}/v2/${key}`,
  }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
