import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../rpc/jsonText.ts'
import { type App, appMembers, appSchema } from './app.ts'
import { AppError } from './appError.ts'
import { changedPolicy, noPolicy } from './policy.ts'

// How apps are written by every store.

const closed = { additionalProperties: false }
const apps = Type.Array(appSchema)
const current = Compile(Type.Object({ version: Type.Literal(3), checksum: Type.String(), apps }, closed))
/** Without a checksum. */
const second = Compile(Type.Object({ version: Type.Literal(2), apps }, closed))
/** Before there were policies. */
const first = Compile(
  Type.Object({ version: Type.Literal(1), apps: Type.Array(Type.Object(appMembers, closed)) }, closed),
)

/** The text that `readApps` reads. */
export function writeApps(apps: readonly App[]): string {
  return `${JSON.stringify({ version: 3, checksum: checksumOf(apps), apps }, undefined, 2)}\n`
}

/** The apps, or what is wrong. The problem shows nothing of the text but names of members. */
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
    // In a file that was edited by hand a range that is none must neither let anybody in nor keep anybody out.
    const read = apps.map((app) => ({ ...app, ...changedPolicy(app, {}) }))
    // A flipped bit may leave a file that reads well, with another key, address or limit in it.
    const isDamaged = current.Check(content) && content.checksum !== checksumOf(apps)
    return isDamaged ? { problem: 'its checksum is that of another content' } : { apps: read }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { problem: `${error.message.split(':')[0]} is wrong` }
  }
}

/** SHA-256 of the apps as compact JSON. */
function checksumOf(apps: readonly App[]): string {
  return createHash('sha256').update(JSON.stringify(apps)).digest('hex')
}
