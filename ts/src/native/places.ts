import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Package that npm installs on this platform: the addon and the HTTP server, prebuilt. */
export const platformPackage = `@rhizome-node/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`

/** Returns the path of a file that was built in this checkout, from the sources or the bundle in ts/dist. */
export function builtHere(name: string): string | undefined {
  return ['./', '../src/native/']
    .map((place) => fileURLToPath(new URL(place + name, import.meta.url)))
    .find((path) => existsSync(path))
}

/** Returns the path of a file of the platform's package; undefined if that is not installed. */
export function installed(require: NodeJS.Require, name: string): string | undefined {
  try {
    const path = join(dirname(require.resolve(`${platformPackage}/package.json`)), name)
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}
