import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../rpc/jsonText.ts'
import { type App, appMembers, appSchema } from './app.ts'
import { AppError } from './appError.ts'
import { changedPolicy, noPolicy } from './policy.ts'

// The JSON document that every store keeps apps in.

const closed = { additionalProperties: false }
const apps = Type.Array(appSchema)
const current = Compile(Type.Object({ version: Type.Literal(3), checksum: Type.String(), apps }, closed))
/** Version 2 has no checksum. */
const second = Compile(Type.Object({ version: Type.Literal(2), apps }, closed))
/** Version 1 has no policies. */
const first = Compile(
  Type.Object({ version: Type.Literal(1), apps: Type.Array(Type.Object(appMembers, closed)) }, closed),
)

/** Returns the document of apps, as `readApps` reads it. */
export function writeApps(apps: readonly App[]): string {
  return `${JSON.stringify({ version: 3, checksum: checksumOf(apps), apps }, undefined, 2)}\n`
}

/** Reads a document. Returns the apps, or a problem that contains nothing of the text but names of members. */
export function readApps(text: string): { apps: App[]; problem?: undefined } | { apps?: undefined; problem: string } {
  const content = jsonIn(text)
  const apps = first.Check(content)
    ? content.apps.map((app): App => ({ ...app, ...noPolicy }))
    : current.Check(content) || second.Check(content)
      ? content.apps
      : undefined
  if (apps === undefined) return { problem: 'expected apps as rhizome keys writes them' }
  if (new Set(apps.map(({ name }) => name)).size < apps.length) return { problem: 'two apps have the same name' }
  try {
    // The file may have been edited by hand: an invalid address range must neither admit nor refuse a client.
    const read = apps.map((app) => ({ ...app, ...changedPolicy(app, {}) }))
    // A flipped bit may leave valid JSON with another key, address or limit in it.
    const isDamaged = current.Check(content) && content.checksum !== checksumOf(apps)
    return isDamaged ? { problem: 'the checksum does not match the content' } : { apps: read }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { problem: `${error.message.split(':')[0]} is wrong` }
  }
}

/** Returns the SHA-256 of the apps as compact JSON. */
function checksumOf(apps: readonly App[]): string {
  return createHash('sha256').update(JSON.stringify(apps)).digest('hex')
}
