import { type Static, Type } from 'typebox'
import { hashOf, newApiKey } from './apiKey.ts'
import { AppError } from './appError.ts'
import { changedPolicy, noPolicy, type PolicyChange, policyMembers } from './policy.ts'

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

/** What names of apps are made of; no character of it needs an escape in a URL. */
export const namePattern = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
export const nameForm = new RegExp(`^${namePattern}$`)
const linePattern = '^[^\\x00-\\x1f\\x7f]{0,200}$'
const lineForm = new RegExp(linePattern)
const line = () => Type.String({ pattern: linePattern })

/** All of an app but its policy. */
export const appMembers = {
  name: Type.String({ pattern: nameForm.source }),
  description: line(),
  useCase: line(),
  network: Type.String({ pattern: '^[a-z0-9]{1,32}$' }),
  createdAt: time(),
  revokedAt: Type.Union([time(), Type.Null()]),
  keys: Type.Array(storedKey),
}

/** Who may call: an app owns keys, of which one is current; others end when its rotation said. */
export const appSchema = Type.Object({ ...appMembers, ...policyMembers }, closed)

export type App = Static<typeof appSchema>

/** What a new app is made of. Without a policy it may do everything. */
export type NewApp = Pick<App, 'name' | 'description' | 'useCase' | 'network'> &
  PolicyChange & { readonly expiresAt: number | null }

/** What may become different in an app. What is not named stays. */
export type AppChange = Partial<Pick<App, 'description' | 'useCase'>> & PolicyChange

/** Live and revoked ones. */
const mostApps = 10_000

/** Adds an app. Its key is in the result and nowhere else. */
export function createApp(apps: readonly App[], given: NewApp, now: number): { apps: App[]; key: string } {
  if (!nameForm.test(given.name)) {
    throw new AppError('name: expected up to 64 letters, digits, dots, dashes and underscores')
  }
  if (apps.some((one) => one.name === given.name)) {
    throw new AppError(`name: there is an app ${given.name} already`, 'taken')
  }
  checkLines(given)
  if (apps.length >= mostApps) throw new AppError(`name: there are ${mostApps} apps already`)
  const { name, description, useCase, network, expiresAt } = given
  const policy = changedPolicy(noPolicy, given)
  const { key, stored } = makeKey(now, expiresAt)
  const app = { name, description, useCase, network, createdAt: now, revokedAt: null, keys: [stored], ...policy }
  return { apps: [...apps, app], key }
}

/** Changes what an app is said to be and what it may do. Its keys stay as they are. */
export function editApp(apps: readonly App[], name: string, change: AppChange): App[] {
  const app = appNamed(apps, name)
  if (app.revokedAt !== null) throw revoked(name)
  checkLines(change)
  const { description = app.description, useCase = app.useCase } = change
  return replaced(apps, { ...app, description, useCase, ...changedPolicy(app, change) })
}

/** Gives an app a new key; those before end after `keepMs`, or earlier when they were to. */
export function rotateKey(
  apps: readonly App[],
  name: string,
  { keepMs, expiresAt }: { readonly keepMs: number; readonly expiresAt: number | null },
  now: number,
): { apps: App[]; key: string } {
  const app = appNamed(apps, name)
  if (app.revokedAt !== null) throw revoked(name)
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
  if (app === undefined) throw new AppError(`name: there is no app ${JSON.stringify(name)}`, 'unknown')
  return app
}

function revoked(name: string): AppError {
  return new AppError(`name: ${name} is revoked; create another app`, 'revoked')
}

function checkLines(given: AppChange): void {
  for (const member of ['description', 'useCase'] as const) {
    if (!lineForm.test(given[member] ?? '')) {
      throw new AppError(`${member}: expected one line of at most 200 characters`)
    }
  }
}

function replaced(apps: readonly App[], app: App): App[] {
  return apps.map((one) => (one.name === app.name ? app : one))
}

function makeKey(now: number, expiresAt: number | null): { key: string; stored: App['keys'][number] } {
  if (expiresAt !== null && expiresAt <= now) throw new AppError('expires: expected a time that is still to come')
  const key = newApiKey()
  return { key, stored: { hash: hashOf(key).toString('hex'), createdAt: now, expiresAt } }
}
