import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Package that npm installs on this platform: the addon, prebuilt, and the description of the HTTP server's binaries. */
export const platformPackage = `@rhizome-node/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`

const line = process.versions.node.split('.')[0]

/** Package that npm installs on this platform with this line of Node.js: the HTTP server, prebuilt. */
export const serverPackage = `${platformPackage}-node${line}`

/** Returns the path of a file that was built in this checkout, from the sources or the bundle in ts/dist. */
export function builtHere(name: string): string | undefined {
  return ['./', '../src/native/']
    .map((place) => fileURLToPath(new URL(place + name, import.meta.url)))
    .find((path) => existsSync(path))
}

/** Returns the path of a file of an installed package; undefined if it is missing. */
export function installed(require: NodeJS.Require, packageName: string, name: string): string | undefined {
  try {
    const path = join(dirname(require.resolve(`${packageName}/package.json`)), name)
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}
