// The RocksDB crate generates its bindings with libclang. If the system has none, set-up fetches the PyPI package of the
// same name, which contains only the shared library.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { outputOf, phase, SetupError } from './run.mjs'
import { unzip } from './unzip.mjs'

const version = '18.1.1'
/** SHA-256 of the wheels of this version, by the last part of their names. */
const wheels = {
  macosx_10_9_x86_64: '6f14c3f194704e5d09769108f03185fce7acaf1d1ae4bbb2f30a72c2400cb7c5',
  macosx_11_0_arm64: '0b2e143f0fac830156feb56f9231ff8338c20aecfe72b4ffe96f19e5a1dbb69a',
  manylinux2010_x86_64: 'c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b',
  manylinux2014_aarch64: '54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592',
  musllinux_1_2_x86_64: '69f8eb8f65c279e765ffd28aaa7e9e364c776c17618af8bff22a8df58677ff4f',
  win_amd64: '4dd2d3b82fab35e2bf9ca717d7b63ac990a3519c7e312f19fa8e86dcc712f7fb',
  win_arm64: '3f0e1f49f04d3cd198985fea0511576b0aee16f9ff0e0f0cad7f9c57ec3c20e8',
}
// libclang-cpp is another library.
const libraryNames = /^libclang(-(?!cpp).*)?\.(so|dylib|dll)/

/** Returns the environment for cargo: empty with a system libclang, otherwise the path of the library. Fetches it if needed. */
export async function libclangEnvironment() {
  if (process.env.LIBCLANG_PATH !== undefined) return {}
  const folder = join(cacheFolder(), `libclang-${version}`, 'clang', 'native')
  // A fetched library is used even if the system has one by now: another path would make cargo build RocksDB again.
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

/** Folder of files that set-up shares between all checkouts of the user. */
export function cacheFolder() {
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
      throw new SetupError(
        `libclang is missing, and could be fetched neither with python3 -m pip nor from https://pypi.org. ${byHand}`,
      )
    }
    checkWheel(basename(wheel), readFileSync(wheel))
    // Unpacked into another folder and renamed: an interrupted set-up leaves no incomplete library.
    mkdirSync(dirname(folder), { recursive: true })
    const fresh = mkdtempSync(`${folder}-`)
    unzip(wheel, fresh)
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Throws SetupError unless a wheel is pinned. */
export function checkWheel(name, bytes) {
  const expected = wheels[/-none-(.*)\.whl$/.exec(name)?.[1]]
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== expected) throw new SetupError(`${name} is not the pinned file (SHA-256 ${found}). ${byHand}`)
}

/** Fetches with pip, which uses the mirrors and proxies of the machine. */
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
    const path = join(folder, file.filename)
    writeFileSync(path, Buffer.from(await answer.arrayBuffer()))
    return path
  } catch {
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
