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
    /** When the key expires, in milliseconds since 1970; null: never. */
    expiresAt: Type.Union([time(), Type.Null()]),
  },
  closed,
)

/** Pattern of app names. No character needs an escape in a URL. */
export const namePattern = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
export const nameForm = new RegExp(`^${namePattern}$`)
const linePattern = '^[^\\x00-\\x1f\\x7f]{0,200}$'
const lineForm = new RegExp(linePattern)
const line = () => Type.String({ pattern: linePattern })

/** Members of an app, without its policy. */
export const appMembers = {
  name: Type.String({ pattern: nameForm.source }),
  description: line(),
  useCase: line(),
  network: Type.String({ pattern: '^[a-z0-9]{1,32}$' }),
  createdAt: time(),
  revokedAt: Type.Union([time(), Type.Null()]),
  keys: Type.Array(storedKey),
}

/** An app and its keys. The last key is the current one; earlier ones expire when a rotation said so. */
export const appSchema = Type.Object({ ...appMembers, ...policyMembers }, closed)

export type App = Static<typeof appSchema>

/** Input for a new app. Without a policy nothing is restricted. */
export type NewApp = Pick<App, 'name' | 'description' | 'useCase' | 'network'> &
  PolicyChange & { readonly expiresAt: number | null }

/** Change of an app. Absent members stay as they are. */
export type AppChange = Partial<Pick<App, 'description' | 'useCase'>> & PolicyChange

/** Limit of all apps, including revoked ones. */
const maxApps = 10_000

/** Adds an app. Its key is only in the result: the store has its hash. */
export function createApp(apps: readonly App[], input: NewApp, now: number): { apps: App[]; key: string } {
  if (!nameForm.test(input.name)) {
    throw new AppError('name: expected up to 64 letters, digits, dots, dashes and underscores')
  }
  if (apps.some((one) => one.name === input.name)) {
    throw new AppError(`name: there is an app ${input.name} already`, 'taken')
  }
  checkLines(input)
  if (apps.length >= maxApps) throw new AppError(`name: there are ${maxApps} apps already`)
  const { name, description, useCase, network, expiresAt } = input
  const policy = changedPolicy(noPolicy, input)
  const { key, stored } = makeKey(now, expiresAt)
  const app = { name, description, useCase, network, createdAt: now, revokedAt: null, keys: [stored], ...policy }
  return { apps: [...apps, app], key }
}

/** Changes description, use case and policy of an app. Its keys stay as they are. */
export function editApp(apps: readonly App[], name: string, change: AppChange): App[] {
  const app = appNamed(apps, name)
  if (app.revokedAt !== null) throw revoked(name)
  checkLines(change)
  const { description = app.description, useCase = app.useCase } = change
  return replaced(apps, { ...app, description, useCase, ...changedPolicy(app, change) })
}

/** Adds a new key to an app. Its other keys expire after `keepMs`, or earlier if they already had an earlier end. */
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

/** Removes all keys of an app permanently. The name stays taken, so that old records stay unambiguous. */
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

function checkLines(change: AppChange): void {
  for (const member of ['description', 'useCase'] as const) {
    if (!lineForm.test(change[member] ?? '')) {
      throw new AppError(`${member}: expected one line of at most 200 characters`)
    }
  }
}

function replaced(apps: readonly App[], app: App): App[] {
  return apps.map((one) => (one.name === app.name ? app : one))
}

function makeKey(now: number, expiresAt: number | null): { key: string; stored: App['keys'][number] } {
  if (expiresAt !== null && expiresAt <= now) throw new AppError('expires: expected a time in the future')
  const key = newApiKey()
  return { key, stored: { hash: hashOf(key).toString('hex'), createdAt: now, expiresAt } }
}
