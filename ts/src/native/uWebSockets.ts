import type uws from 'uWebSockets.js'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Binaries, fileName, hashProblem, pinned, systemProblem, thisSystem } from './binaries.mjs'
import { UnsupportedSystem } from './error.ts'
import { builtHere, installed } from './places.ts'

const require = createRequire(import.meta.url)
const { platform, abi } = thisSystem()
let loaded: typeof uws | undefined

/** Returns uWebSockets.js, loaded at the first call. Throws UnsupportedSystem. */
export function uWebSockets(): typeof uws {
  loaded ??= require(find().path) as typeof uws
  return loaded
}

/** Throws UnsupportedSystem if uWebSockets.js would not load, or its file differs from the pinned one. */
export function checkSystem(): void {
  const { path, binaries } = find()
  const binary = binaries[abi]
  const problem = binary && hashProblem(path, binary)
  if (problem !== undefined) throw new UnsupportedSystem(problem)
}

/** Returns the file for this Node.js: of the release build, the platform's package, or the npm package of a checkout. */
function find(): { path: string; binaries: Binaries } {
  const manifest = builtHere('uWebSockets.json') ?? installed(require, 'uWebSockets.json')
  const binaries = manifest === undefined ? pinned[platform] : (JSON.parse(readFileSync(manifest, 'utf8')) as Binaries)
  const problem = systemProblem(binaries, thisSystem())
  if (binaries === undefined || problem !== undefined) throw new UnsupportedSystem(problem)
  const folder = dirname(manifest ?? resolvePackage())
  const path = join(folder, fileName(platform, abi))
  if (!existsSync(path)) throw new UnsupportedSystem(`${path} is missing: install again`)
  return { path, binaries }
}

function resolvePackage(): string {
  try {
    return require.resolve('uWebSockets.js/package.json')
  } catch {
    throw new UnsupportedSystem(
      'The HTTP server (uWebSockets.js) is missing. In a checkout run: npm run setup. Elsewhere install again, with optional dependencies',
    )
  }
}
