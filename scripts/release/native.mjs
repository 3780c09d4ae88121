// The native files of one platform, gathered in a folder: the addon with its SBOM, and the HTTP server's binaries with their
// description (uWebSockets.json). The platform's packages have these files; in ts/src/native they serve a checkout.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, neededGlibc, thisSystem } from '../../ts/src/native/binaries.mjs'
import { run } from '../setup/run.mjs'
import { addonSbom } from './sbom.mjs'

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
  for (const abi of Object.keys(binaries))
    cpSync(join(server, fileName(platform, abi)), join(folder, fileName(platform, abi)))
  writeJson(join(folder, 'uWebSockets.json'), binaries)
  writeJson(join(folder, 'sbom.cdx.json'), addonSbom(root, `@rhizome-node/${name}`, manifest), 0)
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
