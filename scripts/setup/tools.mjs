// Checks the programs that set-up needs.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, hashProblem, isAtLeast, pinned, systemProblem, thisSystem } from '../../ts/src/native/binaries.mjs'
import { outputOf, SetupError } from './run.mjs'

const releaseBuild = 'ts/src/native/uWebSockets.json'

const rust = '1.91'

/** Throws SetupError if the HTTP server cannot load with this Node.js on this system. Called before the slow steps. */
export function checkSystem(root) {
  const problem = systemProblem(binariesOf(root), thisSystem())
  if (problem !== undefined) throw new SetupError(problem)
}

/** Throws SetupError if the binary of the HTTP server that npm installed differs from the pinned binary. */
export function checkHttpServer(root) {
  if (hasReleaseBuild(root)) return
  const { platform, abi } = thisSystem()
  const path = join(root, 'node_modules/uWebSockets.js', fileName(platform, abi))
  const problem = hashProblem(path, pinned[platform][abi])
  if (problem !== undefined) throw new SetupError(problem)
}

/** Returns the binaries of the release build if they are next to the addon, else those of the npm package. */
function binariesOf(root) {
  if (!hasReleaseBuild(root)) return pinned[thisSystem().platform]
  return JSON.parse(readFileSync(join(root, releaseBuild), 'utf8'))
}

function hasReleaseBuild(root) {
  return existsSync(join(root, releaseBuild))
}

/** Checks the tools that build the native addon. Throws one SetupError that names all missing tools. */
export function checkBuildTools() {
  const missing = [cargo(), compiler('C', ['cc', 'gcc', 'clang']), compiler('C++', ['c++', 'g++', 'clang++'])]
  const problems = missing.filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new SetupError(problems.join('\n'))
}

function cargo() {
  const version = outputOf('cargo', ['--version'])
  const rustc = outputOf('rustc', ['--version'])
  const get = 'Get it from https://rustup.rs (curl https://sh.rustup.rs -sSf | sh), then open a new shell.'
  if (version === undefined || rustc === undefined) return `Rust (cargo and rustc ${rust} or later) is missing. ${get}`
  const number = rustc.split(' ')[1] ?? ''
  if (isAtLeast(number, rust)) return undefined
  return `Rust ${rust} or later is needed, this is ${number}. Run: rustup update stable`
}

function compiler(language, names) {
  const given = language === 'C' ? process.env.CC : process.env.CXX
  if ([given, ...names].some((name) => name !== undefined && outputOf(name, ['--version']) !== undefined))
    return undefined
  return `A ${language} compiler (${names.join(', ')}) is missing. ${compilerHint()}`
}

function compilerHint() {
  if (process.platform === 'darwin') return 'Run: xcode-select --install'
  if (process.platform === 'win32') return 'Install the Visual Studio Build Tools.'
  return 'Debian, Ubuntu: sudo apt-get install build-essential. Fedora: sudo dnf install gcc gcc-c++. Alpine: apk add build-base'
}
