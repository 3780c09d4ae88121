import { readFileSync } from 'node:fs'

/** Version of the package, from package.json, which is two levels above both sources and bundle. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
