import type uws from 'uWebSockets.js'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Binaries, fileName, hashProblem, pinned, systemProblem, thisSystem } from './binaries.mjs'
import { UnsupportedSystem } from './error.ts'
import { builtHere, installed, platformPackage, serverPackage } from './places.ts'

const require = createRequire(import.meta.url)
const { platform, abi } = thisSystem()
/** Lists the binaries of a release by the ABI of Node.js. */
const description = 'uWebSockets.json'
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

/** Returns the file for this Node.js: of the release build, the package for this Node.js, or the npm package of a checkout. */
function find(): { path: string; binaries: Binaries } {
  const built = builtHere(description)
  const packed = built === undefined ? installed(require, platformPackage, description) : undefined
  const manifest = built ?? packed
  const binaries = manifest === undefined ? pinned[platform] : (JSON.parse(readFileSync(manifest, 'utf8')) as Binaries)
  const problem = systemProblem(binaries, thisSystem())
  if (binaries === undefined || problem !== undefined) throw new UnsupportedSystem(problem)
  const file = fileName(platform, abi)
  const source = packed === undefined ? 'uWebSockets.js' : serverPackage
  const path = built === undefined ? installed(require, source, file) : builtHere(file)
  if (path === undefined) throw new UnsupportedSystem(packed === undefined ? notSetUp : notInstalled)
  return { path, binaries }
}

const notSetUp =
  'The HTTP server (uWebSockets.js) is missing. In a checkout run: npm run setup. Elsewhere install again, with optional dependencies'

/** Package managers install the package for their own line of Node.js only. */
const notInstalled = `The HTTP server (uWebSockets.js) for Node.js ${process.versions.node} (${serverPackage}) is not installed: install again with this Node.js and with optional dependencies`
