// The native addon: built by cargo, put beside the TypeScript sources that load it.
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cargoEnvironment } from './cargo.mjs'
import { outputOf, phase, run, SetupError } from './run.mjs'
import { checkBuildTools } from './tools.mjs'

const target = 'ts/src/native/rhizome.node'

export function hasAddon(root) {
  return existsSync(join(root, target))
}

export async function buildAddon(root) {
  checkBuildTools()
  const env = await cargoEnvironment()
  const folder = targetFolder(root, env)
  const first = existsSync(join(folder, 'release', 'build'))
    ? ''
    : ' (the first time this takes about 10 minutes: RocksDB is compiled)'
  await phase(`building the native addon${first}`, () =>
    run('cargo', ['build', '--release', '--locked', '-p', 'rhizome-addon'], { cwd: root, env }),
  )
  const library = join(folder, 'release', libraryName())
  if (!existsSync(library)) throw new SetupError(`cargo built no ${library}`)
  mkdirSync(join(root, 'ts/src/native'), { recursive: true })
  // A running node keeps the old file: it is replaced, not overwritten.
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
