// The programs that must be there before anything can be built.
import { outputOf, SetupError } from './run.mjs'

const node = [20, 0]
const rust = [1, 91]

export function checkNode() {
  if (isAtLeast(process.versions.node, node)) return
  throw new SetupError(
    `Node.js ${node[0]} or later is needed, this is ${process.versions.node}. Get it from https://nodejs.org or with a version manager (nvm install 20).`,
  )
}

/** What the native addon is built with. Throws one SetupError that names everything that is missing. */
export function checkBuildTools() {
  const missing = [cargo(), compiler('C', ['cc', 'gcc', 'clang']), compiler('C++', ['c++', 'g++', 'clang++'])]
  const problems = missing.filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new SetupError(problems.join('\n'))
}

function cargo() {
  const version = outputOf('cargo', ['--version'])
  const rustc = outputOf('rustc', ['--version'])
  const get = 'Get it from https://rustup.rs (curl https://sh.rustup.rs -sSf | sh), then open a new shell.'
  if (version === undefined || rustc === undefined)
    return `Rust (cargo and rustc ${rust.join('.')} or later) is missing. ${get}`
  const number = rustc.split(' ')[1] ?? ''
  if (isAtLeast(number, rust)) return undefined
  return `Rust ${rust.join('.')} or later is needed, this is ${number}. Run: rustup update stable`
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

function isAtLeast(version, wanted) {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1])
}
