import type { App } from './app.ts'

/** An app as people and programs see it: without its hashes, times as ISO texts. */
export interface ShownApp extends Omit<App, 'createdAt' | 'revokedAt' | 'keys'> {
  /** `expired`: there is no key left that is good. */
  readonly state: 'active' | 'expired' | 'revoked'
  readonly createdAt: string
  readonly revokedAt: string | null
  readonly keys: readonly { readonly createdAt: string; readonly expiresAt: string | null }[]
}

/** Where a key's owner sends requests. Each holds the key. */
export interface KeyUrls {
  readonly http: string
  readonly httpV2: string
  readonly webSocket: string
  readonly webSocketV2: string
}

export function shownApp({ keys, revokedAt, createdAt, ...described }: App, now: number): ShownApp {
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

/** `base` is the address that callers use, e.g. `https://rpc.example.org`. */
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
