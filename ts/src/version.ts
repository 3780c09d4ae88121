import { readFileSync } from 'node:fs'

/** Version of the package, from its package.json: two levels up from the sources and from the bundle alike. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
