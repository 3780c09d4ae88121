// The native files of one platform, gathered in a folder: the addon, the HTTP server's binaries with their
// description (uWebSockets.json), and the SBOM of all. The platform's package is this folder; in ts/src/native it serves a checkout.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, neededGlibc, thisSystem } from '../../ts/src/native/binaries.mjs'
import { run } from '../setup/run.mjs'
import { nativeSbom, originOf } from './sbom.mjs'

/** Oldest supported glibc of released packages. */
export const oldestGlibc = '2.28'

/** Copies the files of this platform into `folder`: the addon that set-up built, and the HTTP server's from the folder `server`. */
export async function gatherNative(root, manifest, name, folder, server) {
  mkdirSync(folder, { recursive: true })
  const addon = join(folder, 'rhizome.node')
  cpSync(join(root, 'ts/src/native/rhizome.node'), addon)
  // Debug information is most of the file.
  if (process.platform !== 'win32') {
    await run('strip', [process.platform === 'darwin' ? '-S' : '--strip-unneeded', addon])
  }
  const { platform } = thisSystem()
  const binaries = readJson(join(server, 'uWebSockets.json'))
  const components = {}
  for (const [abi, binary] of Object.entries(binaries)) {
    const file = fileName(platform, abi)
    cpSync(join(server, file), join(folder, file))
    components[file] = { ...binary, origin: originOf(root, binary.source) }
  }
  cpSync(join(root, 'node_modules/uWebSockets.js/LICENSE'), join(folder, 'LICENSE-uWebSockets'))
  writeJson(join(folder, 'uWebSockets.json'), binaries)
  writeJson(join(folder, 'sbom.cdx.json'), nativeSbom(root, `@rhizome-node/${name}`, manifest, components), 0)
}

/** Returns the binaries in a folder of Linux files with the glibc version that each needs. */
export function glibcOf(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.node'))
    .map((name) => ({ name, glibc: neededGlibc(join(folder, name)) }))
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

export function writeJson(path, value, indent = 2) {
  writeFileSync(path, `${JSON.stringify(value, undefined, indent)}\n`)
}
