// Builds the native addon with cargo and copies it next to the TypeScript sources that load it.
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cargoBuild, cargoEnvironment } from './cargo.mjs'
import { Progress } from './progress.mjs'
import { outputOf, phase, SetupError } from './run.mjs'
import { checkBuildTools } from './tools.mjs'

const target = 'ts/src/native/rhizome.node'

export function hasAddon(root) {
  return existsSync(join(root, target))
}

export async function buildAddon(root) {
  checkBuildTools()
  const progress = new Progress()
  // Seconds of each part on two processors. RocksDB counts only if it has to be compiled.
  const crates = progress.add('crates', 230)
  let rocksdb
  const compileRocksdb = (done) => {
    rocksdb ??= progress.add('RocksDB', 230)
    rocksdb(done)
  }
  let folder = ''
  await phase(
    'building the native addon',
    async () => {
      const env = await cargoEnvironment(compileRocksdb)
      folder = targetFolder(root, env)
      await cargoBuild(['--release', '--locked', '-p', 'rhizome-addon'], env, crates)
    },
    progress,
  )
  const library = join(folder, 'release', libraryName())
  if (!existsSync(library)) throw new SetupError(`cargo built no ${library}`)
  mkdirSync(join(root, 'ts/src/native'), { recursive: true })
  // Replaced by a rename, not overwritten: a running node still uses the old file.
  copyFileSync(library, join(root, `${target}.new`))
  renameSync(join(root, `${target}.new`), join(root, target))
}

function targetFolder(root, env) {
  const metadata = outputOf('cargo', ['metadata', '--no-deps', '--format-version', '1'], {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  })
  if (metadata === undefined) throw new SetupError('cargo metadata failed: Cargo.toml cannot be read')
  return JSON.parse(metadata).target_directory
}

function libraryName() {
  if (process.platform === 'darwin') return 'librhizome_addon.dylib'
  return process.platform === 'win32' ? 'rhizome_addon.dll' : 'librhizome_addon.so'
}
