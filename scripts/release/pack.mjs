// npm run pack -- [--addon PLATFORM=FILE]... [--out DIR]: the packages to publish, as .tgz files. One holds the program, one
// per platform the addon; the first names the others as optional dependencies, so that npm installs the one that fits.
// Without --addon: this platform, with the addon of the checkout.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { outputOf, run, SetupError } from '../setup/run.mjs'
import { root, setup } from '../setup.mjs'
import { platforms, thisPlatform } from './platforms.mjs'

const licenses = ['LICENSE-MIT', 'LICENSE-APACHE']
const content = ['README.md', 'CHANGELOG.md', ...licenses, 'ts/rhizome.mjs', 'ts/dist']

/** Writes the packages into `out`: `addons` are pairs of a platform's name and its file. */
export async function pack(addons, out) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const work = join(root, 'node_modules/.cache/packages')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const folders = [programPackage(work, manifest)]
  for (const [name, file] of addons) folders.push(await addonPackage(work, manifest, name, file))
  for (const folder of folders) {
    await run('npm', ['pack', '--loglevel=error', '--pack-destination', out], {
      cwd: folder,
      shell: process.platform === 'win32',
    })
  }
}

/** The program as it is installed: what the bundle contains is no dependency any more. */
function programPackage(work, { scripts, devDependencies, dependencies, private: isPrivate, ...manifest }) {
  const folder = join(work, 'program')
  for (const path of content) cpSync(join(root, path), join(folder, path), { recursive: true })
  const optional = platforms.map(({ name }) => [packageOf(manifest, name), manifest.version])
  write(folder, {
    ...manifest,
    files: content,
    dependencies: { 'uWebSockets.js': dependencies['uWebSockets.js'] },
    optionalDependencies: Object.fromEntries(optional),
  })
  return folder
}

async function addonPackage(work, manifest, name, file) {
  const platform = platforms.find((one) => one.name === name)
  if (platform === undefined) {
    throw new SetupError(`--addon: ${name} is none of ${platforms.map((one) => one.name).join(', ')}`)
  }
  const folder = join(work, name)
  for (const path of licenses) cpSync(join(root, path), join(folder, path))
  cpSync(file, join(folder, 'rhizome.node'))
  // What only debuggers need is most of the file.
  if (process.platform === platform.os && process.platform !== 'win32') {
    await run('strip', [platform.os === 'darwin' ? '-S' : '--strip-unneeded', join(folder, 'rhizome.node')])
  }
  const { version, license, engines } = manifest
  const { os, cpu, libc } = platform
  write(folder, {
    name: packageOf(manifest, name),
    version,
    description: `The native addon of ${manifest.name} for ${name}`,
    license,
    engines,
    main: 'rhizome.node',
    files: ['rhizome.node', ...licenses],
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  })
  return folder
}

function packageOf(manifest, name) {
  return `${manifest.name}-${name}`
}

function write(folder, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** The addon that set-up built here, as a pair for `pack`. */
function builtHere() {
  const platform = thisPlatform()
  if (platform === undefined) {
    throw new SetupError(
      `There is no package for ${process.platform}-${process.arch} (${outputOf('ldd', ['--version'])})`,
    )
  }
  return [platform.name, join(root, 'ts/src/native/rhizome.node')]
}

if (process.argv[1]?.endsWith('pack.mjs')) {
  const { values } = parseArgs({
    options: { addon: { type: 'string', multiple: true }, out: { type: 'string', default: join(root, 'packages') } },
  })
  try {
    await setup({ addon: values.addon === undefined })
    const addons = values.addon?.map((one) => one.split('=')) ?? [builtHere()]
    await pack(addons, values.out)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`pack: ${error.message}\n`)
    process.exitCode = 1
  }
}
