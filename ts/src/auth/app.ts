import { type Static, Type } from 'typebox'
import { hashOf, newApiKey } from './apiKey.ts'

const closed = { additionalProperties: false }
const time = () => Type.Integer({ minimum: 0 })

const storedKey = Type.Object(
  {
    /** SHA-256, 64 hexadecimal digits. */
    hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** Milliseconds since 1970. */
    createdAt: time(),
    /** From this millisecond on the key is refused; null: never. */
    expiresAt: Type.Union([time(), Type.Null()]),
  },
  closed,
)

/** Who may call: an app owns keys, of which one is current; others end when its rotation said. */
export const appSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
    description: Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{0,200}$' }),
    useCase: Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{0,200}$' }),
    network: Type.String({ pattern: '^[a-z0-9]{1,32}$' }),
    createdAt: time(),
    revokedAt: Type.Union([time(), Type.Null()]),
    keys: Type.Array(storedKey),
  },
  closed,
)

export type App = Static<typeof appSchema>

/** What cannot be done with an app, and why. */
export class AppError extends Error {
  override name = 'AppError'
}

/** What a new app is made of. */
export type NewApp = Pick<App, 'name' | 'description' | 'useCase' | 'network'> & { readonly expiresAt: number | null }

/** Adds an app. Its key is in the result and nowhere else. */
export function createApp(apps: readonly App[], given: NewApp, now: number): { apps: App[]; key: string } {
  if (apps.some((one) => one.name === given.name)) throw new AppError(`name: there is an app ${given.name} already`)
  const { expiresAt, ...described } = given
  const { key, stored } = makeKey(now, expiresAt)
  return { apps: [...apps, { ...described, createdAt: now, revokedAt: null, keys: [stored] }], key }
}

/** Gives an app a new key; those before end after `keepMs`, or earlier when they were to. */
export function rotateKey(
  apps: readonly App[],
  name: string,
  { keepMs, expiresAt }: { readonly keepMs: number; readonly expiresAt: number | null },
  now: number,
): { apps: App[]; key: string } {
  const app = appNamed(apps, name)
  if (app.revokedAt !== null) throw new AppError(`name: ${name} is revoked; create another app`)
  const { key, stored } = makeKey(now, expiresAt)
  const end = now + keepMs
  const old = app.keys
    .filter((one) => keepMs > 0 && (one.expiresAt === null || one.expiresAt > now))
    .map((one) => ({ ...one, expiresAt: Math.min(one.expiresAt ?? end, end) }))
  return { apps: replaced(apps, { ...app, keys: [...old, stored] }), key }
}

/** Ends all keys of an app for good. The name stays taken, so that old records cannot be mistaken. */
export function revokeApp(apps: readonly App[], name: string, now: number): App[] {
  const app = appNamed(apps, name)
  return replaced(apps, { ...app, revokedAt: app.revokedAt ?? now, keys: [] })
}

export function appNamed(apps: readonly App[], name: string): App {
  const app = apps.find((one) => one.name === name)
  if (app === undefined) throw new AppError(`name: there is no app ${JSON.stringify(name)}`)
  return app
}

function replaced(apps: readonly App[], app: App): App[] {
  return apps.map((one) => (one.name === app.name ? app : one))
}

function makeKey(now: number, expiresAt: number | null): { key: string; stored: App['keys'][number] } {
  if (expiresAt !== null && expiresAt <= now) throw new AppError('expires: expected a time that is still to come')
  const key = newApiKey()
  return { key, stored: { hash: hashOf(key).toString('hex'), createdAt: now, expiresAt } }
}
