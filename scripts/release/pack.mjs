// npm run pack -- [--native PLATFORM=DIR]... [--out DIR]: the packages to publish, as .tgz files. One contains the program, one per
// platform the addon, one per platform and line of Node.js the HTTP server. The first names the others as optional dependencies: npm
// installs those whose `os`, `cpu`, `libc` and `engines` fit.
// Without --native: this platform, with the addon of the checkout and the HTTP server for the running Node.js.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileName, nodeLines, thisSystem } from '../../ts/src/native/binaries.mjs'
import { outputOf, run, SetupError } from '../setup/run.mjs'
import { root, setup } from '../setup.mjs'
import { pinnedHttpServer } from './httpServer.mjs'
import { gatherNative, readJson, writeJson } from './native.mjs'
import { platforms, thisPlatform } from './platforms.mjs'
import { programSbom, serverSbom } from './sbom.mjs'

const licenses = ['LICENSE-MIT', 'LICENSE-APACHE']
const content = ['README.md', ...licenses, 'ts/rhizome.mjs', 'ts/src/native/binaries.mjs', 'ts/dist']

/** Writes the packages into `out`: `natives` are pairs of a platform's name and the folder with its native files. */
export async function pack(natives, out) {
  const manifest = readJson(join(root, 'package.json'))
  const work = join(root, 'node_modules/.cache/packages')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const platformsOf = natives.length > 0 ? natives : [await gatherHere(work, manifest)]
  const packed = platformsOf.flatMap(([name, folder]) => nativePackages(work, manifest, name, folder))
  packed.push(
    programPackage(
      work,
      manifest,
      packed.map(({ name }) => name),
    ),
  )
  for (const { folder } of packed) {
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

/** Gathers the native files of this platform. Returns its name and their folder. */
async function gatherHere(work, manifest) {
  const name = thisPlatform()?.name
  if (name === undefined) {
    throw new SetupError(
      `There is no package for ${process.platform}-${process.arch} (${outputOf('ldd', ['--version'])})`,
    )
  }
  const [server, gathered] = [join(work, 'server'), join(work, 'native')]
  pinnedHttpServer(root, server, [thisSystem().abi])
  await gatherNative(root, manifest, name, gathered, server)
  return [name, gathered]
}

/** Splits the native files of a platform into its package and one for each line of Node.js. */
function nativePackages(work, manifest, name, gathered) {
  const platform = platforms.find((one) => one.name === name)
  if (platform === undefined) {
    throw new SetupError(`--native: ${name} is not one of ${platforms.map((one) => one.name).join(', ')}`)
  }
  const addon = join(work, name)
  for (const path of licenses) cpSync(join(root, path), join(addon, path))
  // Describes the HTTP server's binaries for all lines of Node.js, so that the program can name a supported line.
  for (const file of ['rhizome.node', 'uWebSockets.json', 'sbom.cdx.json'])
    cpSync(join(gathered, file), join(addon, file))
  const { engines, license, name: program } = manifest
  const native = nativePackage(addon, manifest, platform, {
    name: `@rhizome-node/${name}`,
    description: `The native addon of ${program} for ${name}`,
    license: `(${license}) AND Apache-2.0`,
    engines,
  })
  const binaries = readJson(join(gathered, 'uWebSockets.json'))
  const servers = Object.entries(binaries).map(([abi, binary]) => {
    const { line, from } = nodeLines.find((one) => one.abi === abi)
    const folder = join(work, `${name}-node${line}`)
    const packageName = `@rhizome-node/${name}-node${line}`
    const file = fileName(`${platform.os}-${platform.cpu}`, abi)
    cpSync(join(gathered, file), join(folder, file))
    cpSync(join(root, 'node_modules/uWebSockets.js/LICENSE'), join(folder, 'LICENSE'))
    writeJson(join(folder, 'sbom.cdx.json'), serverSbom(root, packageName, manifest, file, binary), 0)
    return nativePackage(folder, manifest, platform, {
      name: packageName,
      description: `The HTTP server (uWebSockets.js) of ${program} for ${name} and Node.js ${line}`,
      license: 'Apache-2.0',
      engines: { node: `^${from}` },
    })
  })
  return [native, ...servers]
}

/** Writes the package.json of a package with native files, which are in `folder`. */
function nativePackage(folder, { version }, { os, cpu, libc }, { name, ...fields }) {
  writeJson(join(folder, 'package.json'), {
    name,
    version,
    ...fields,
    files: readdirSync(folder),
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    publishConfig: { access: 'public' },
  })
  return { name, folder }
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
