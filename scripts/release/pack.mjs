// npm run pack -- [--native PLATFORM=DIR]... [--out DIR]: the packages to publish, as .tgz files. One contains the program, one
// per platform the native files; the first names the others as optional dependencies, so that npm installs the package of the platform.
// Without --native: this platform, with the addon of the checkout and the HTTP server for the running Node.js.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { outputOf, run, SetupError } from '../setup/run.mjs'
import { root, setup } from '../setup.mjs'
import { pinnedHttpServer } from './httpServer.mjs'
import { gatherNative, readJson, writeJson } from './native.mjs'
import { platforms, thisPlatform } from './platforms.mjs'
import { programSbom } from './sbom.mjs'

const licenses = ['LICENSE-MIT', 'LICENSE-APACHE']
const content = ['README.md', 'CHANGELOG.md', ...licenses, 'ts/rhizome.mjs', 'ts/src/native/binaries.mjs', 'ts/dist']

/** Writes the packages into `out`: `natives` are pairs of a platform's name and the folder with its native files. */
export async function pack(natives, out) {
  const manifest = readJson(join(root, 'package.json'))
  const work = join(root, 'node_modules/.cache/packages')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const folders = natives.map(([name, folder]) => nativePackage(work, manifest, name, folder))
  if (folders.length === 0) folders.push(await packageOfHere(work, manifest))
  folders.push(
    programPackage(
      work,
      manifest,
      folders.map(({ name }) => name),
    ),
  )
  for (const { folder } of folders) {
    await run('npm', ['pack', '--loglevel=error', '--pack-destination', out], {
      cwd: folder,
      shell: process.platform === 'win32',
    })
  }
}

/** Returns the package.json of the program, without dependencies that are in the bundle. */
function programPackage(work, { scripts, devDependencies, dependencies, private: isPrivate, ...manifest }, natives) {
  const folder = join(work, 'program')
  for (const path of content) cpSync(join(root, path), join(folder, path), { recursive: true })
  writeJson(join(folder, 'sbom.cdx.json'), programSbom(root, manifest), 0)
  writeJson(join(folder, 'package.json'), {
    ...manifest,
    files: [...content, 'sbom.cdx.json'],
    optionalDependencies: Object.fromEntries(natives.map((name) => [name, manifest.version])),
    publishConfig: { access: 'public' },
  })
  return { name: manifest.name, folder }
}

async function packageOfHere(work, manifest) {
  const name = thisPlatform()?.name
  if (name === undefined) {
    throw new SetupError(
      `There is no package for ${process.platform}-${process.arch} (${outputOf('ldd', ['--version'])})`,
    )
  }
  const [server, gathered] = [join(work, 'server'), join(work, 'native')]
  pinnedHttpServer(root, server)
  await gatherNative(root, manifest, name, gathered, server)
  return nativePackage(work, manifest, name, gathered)
}

function nativePackage(work, { version, license, engines, name: program }, name, gathered) {
  const platform = platforms.find((one) => one.name === name)
  if (platform === undefined) {
    throw new SetupError(`--native: ${name} is not one of ${platforms.map((one) => one.name).join(', ')}`)
  }
  const folder = join(work, name)
  for (const path of licenses) cpSync(join(root, path), join(folder, path))
  cpSync(gathered, folder, { recursive: true })
  const { os, cpu, libc } = platform
  const packageName = `@rhizome-node/${name}`
  writeJson(join(folder, 'package.json'), {
    name: packageName,
    version,
    description: `The native files of ${program} for ${name}`,
    license: `(${license}) AND Apache-2.0`,
    engines,
    files: readdirSync(folder),
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    publishConfig: { access: 'public' },
  })
  return { name: packageName, folder }
}

if (process.argv[1]?.endsWith('pack.mjs')) {
  const { values } = parseArgs({
    options: { native: { type: 'string', multiple: true }, out: { type: 'string', default: join(root, 'packages') } },
  })
  try {
    await setup({ addon: values.native === undefined })
    await pack(values.native?.map((one) => one.split('=')) ?? [], resolve(values.out))
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`pack: ${error.message}\n`)
    process.exitCode = 1
  }
}
