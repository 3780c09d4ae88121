// The RocksDB crate generates its bindings with libclang. The system's is used when there is one; otherwise the library
// comes from the PyPI package of the same name: a shared library that needs no installation.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { outputOf, phase, SetupError } from './run.mjs'
import { unzip } from './unzip.mjs'

const version = '18.1.1'
// libclang-cpp is another library.
const libraryNames = /^libclang(-(?!cpp).*)?\.(so|dylib|dll)/

/** Environment for cargo: empty with a system libclang, otherwise where the library is. Fetches it when needed. */
export async function libclangEnvironment() {
  if (process.env.LIBCLANG_PATH !== undefined) return {}
  const folder = join(cacheFolder(), `libclang-${version}`, 'clang', 'native')
  // The fetched library stays in use once it is there: another path would make cargo build RocksDB again.
  if (!hasLibrary(folder)) {
    if (systemFolders().some(hasLibrary)) return {}
    await phase(`fetching libclang ${version} (for the RocksDB bindings)`, () => fetchInto(dirname(dirname(folder))))
  }
  if (!hasLibrary(folder)) throw new SetupError(`libclang could not be fetched. ${byHand}`)
  const include = outputOf('gcc', ['-print-file-name=include'])
  return { LIBCLANG_PATH: folder, ...(include !== undefined && { BINDGEN_EXTRA_CLANG_ARGS: `-I${include}` }) }
}

const byHand =
  'Install it (Debian, Ubuntu: sudo apt-get install libclang-dev; Fedora: sudo dnf install clang-devel; macOS: xcode-select --install) or set LIBCLANG_PATH to its folder.'

function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rhizome')
}

function hasLibrary(folder) {
  return existsSync(folder) && readdirSync(folder).some((name) => libraryNames.test(name))
}

function systemFolders() {
  const fromConfig = outputOf('llvm-config', ['--libdir'])
  const llvm = existsSync('/usr/lib') ? readdirSync('/usr/lib').filter((name) => name.startsWith('llvm')) : []
  return [
    ...(fromConfig === undefined ? [] : [fromConfig]),
    ...llvm.map((name) => join('/usr/lib', name, 'lib')),
    `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
    '/usr/lib64',
    '/usr/lib',
    '/usr/local/lib',
    '/Library/Developer/CommandLineTools/usr/lib',
    '/Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib',
  ]
}

async function fetchInto(folder) {
  const work = mkdtempSync(join(tmpdir(), 'rhizome-libclang-'))
  try {
    const wheel = byPip(work) ?? (await byHttps(work))
    if (wheel === undefined) {
      throw new SetupError(`libclang is missing, and neither python3 -m pip nor https://pypi.org gave it. ${byHand}`)
    }
    // Unpacked beside its place and moved there whole: an interrupted set-up leaves nothing half done.
    mkdirSync(dirname(folder), { recursive: true })
    const fresh = mkdtempSync(`${folder}-`)
    unzip(wheel, fresh)
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Pip knows mirrors and proxies of the machine, and checks the hash. */
function byPip(folder) {
  const parameters = [
    '-m',
    'pip',
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--dest',
    folder,
    `libclang==${version}`,
  ]
  for (const python of ['python3', 'python']) outputOf(python, parameters, { stdio: ['ignore', 'pipe', 'ignore'] })
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'))
  return wheel === undefined ? undefined : join(folder, wheel)
}

async function byHttps(folder) {
  try {
    const listing = await fetch(`https://pypi.org/pypi/libclang/${version}/json`, {
      signal: AbortSignal.timeout(30_000),
    })
    const { urls } = await listing.json()
    const file = urls.find(({ filename }) => platformTag().test(filename))
    if (file === undefined) return undefined
    const answer = await fetch(file.url, { signal: AbortSignal.timeout(600_000) })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (createHash('sha256').update(bytes).digest('hex') !== file.digests.sha256) {
      throw new SetupError('the fetched libclang does not match its hash')
    }
    const path = join(folder, file.filename)
    writeFileSync(path, bytes)
    return path
  } catch (error) {
    if (error instanceof SetupError) throw error
    return undefined
  }
}

function platformTag() {
  if (process.platform === 'darwin') return process.arch === 'arm64' ? /macosx_.*arm64/ : /macosx_.*x86_64/
  if (process.platform === 'win32') return process.arch === 'arm64' ? /win_arm64/ : /win_amd64/
  const isMusl = existsSync('/etc/alpine-release')
  if (isMusl) return /musllinux_.*x86_64/
  return process.arch === 'arm64' ? /manylinux.*aarch64/ : /manylinux.*x86_64/
}
