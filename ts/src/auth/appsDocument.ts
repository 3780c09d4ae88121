import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../rpc/jsonText.ts'
import { type App, appMembers, appSchema } from './app.ts'
import { AppError } from './appError.ts'
import { changedPolicy, noPolicy } from './policy.ts'

// How apps are written by every store.

const closed = { additionalProperties: false }
const current = Compile(Type.Object({ version: Type.Literal(2), apps: Type.Array(appSchema) }, closed))
/** Before there were policies. */
const first = Compile(
  Type.Object({ version: Type.Literal(1), apps: Type.Array(Type.Object(appMembers, closed)) }, closed),
)

/** The text that `readApps` reads. */
export function writeApps(apps: readonly App[]): string {
  return `${JSON.stringify({ version: 2, apps }, undefined, 2)}\n`
}

/** The apps, or what is wrong. The problem shows nothing of the text but names of members. */
export function readApps(text: string): { apps: App[]; problem?: undefined } | { apps?: undefined; problem: string } {
  const content = jsonIn(text)
  const apps = first.Check(content)
    ? content.apps.map((app): App => ({ ...app, ...noPolicy }))
    : current.Check(content)
      ? content.apps
      : undefined
  if (apps === undefined) return { problem: 'expected apps as rhizome keys writes them' }
  if (new Set(apps.map(({ name }) => name)).size < apps.length) return { problem: 'two apps have the same name' }
  try {
    // Whoever edits by hand may write a range that is none; nothing may be let in by it, nor kept out.
    return { apps: apps.map((app) => ({ ...app, ...changedPolicy(app, {}) })) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { problem: `${error.message.split(':')[0]} is wrong` }
  }
}
