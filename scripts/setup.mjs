// Sets up what is missing: packages, the native addon, the bundle. Runs before every start and test; when nothing
// changed it only compares fingerprints. Needs nothing but Node.js itself.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon, hasAddon } from './setup/addon.mjs'
import { buildBundle } from './setup/bundle.mjs'
import { fingerprint, Stamps } from './setup/fingerprint.mjs'
import { phase, run, SetupError } from './setup/run.mjs'
import { checkHttpServer, checkSystem } from './setup/tools.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A project of its own with packages of its own: nobody but its test needs them. */
const hardhatProject = 'ts/tests/hardhat'

/** Brings everything up to date. `parts` can leave the addon out, and add the packages that only tests need. */
export async function setup(parts = { addon: true }) {
  checkSystem(root)
  // Kept with the packages: when those are thrown away, everything is looked at again.
  const stamps = new Stamps(`${root}/node_modules/.rhizome-setup.json`)
  const steps = [
    {
      name: 'packages',
      inputs: () => fingerprint(root, ['package-lock.json']) + process.versions.modules,
      isThere: () => true,
      build: async () => {
        await phase('installing packages', () => install(root))
        checkHttpServer(root)
      },
    },
    {
      name: 'hardhat',
      inputs: () => fingerprint(root, [`${hardhatProject}/package-lock.json`]) + process.versions.modules,
      isThere: () => existsSync(`${root}/${hardhatProject}/node_modules/hardhat`),
      build: () =>
        phase('installing Hardhat for its test', () => install(`${root}/${hardhatProject}`, '--ignore-scripts')),
    },
    {
      name: 'addon',
      inputs: () =>
        fingerprint(root, ['Cargo.toml', 'Cargo.lock', 'crates'], ['tests', 'benches', 'examples', 'target']),
      isThere: () => hasAddon(root),
      build: () => buildAddon(root),
    },
    {
      name: 'bundle',
      inputs: () =>
        fingerprint(
          root,
          ['ts/src', 'scripts/setup/bundle.mjs', 'scripts/setup/declarations.mjs', 'package-lock.json'],
          ['rhizome.node'],
        ),
      isThere: () => existsSync(`${root}/ts/dist/cli.js`),
      build: () => buildBundle(root),
    },
  ]
  for (const { name, inputs, isThere, build } of steps) {
    if (name === 'addon' && !parts.addon) continue
    if (name === 'hardhat' && !parts.hardhat) continue
    const value = inputs()
    if (stamps.isCurrent(name, value) && isThere()) continue
    await build()
    stamps.set(name, value)
  }
}

function install(cwd, ...flags) {
  const parameters = ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...flags]
  return run('npm', parameters, { cwd, shell: process.platform === 'win32' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setup({ addon: !process.argv.includes('--without-addon'), hardhat: process.argv.includes('--with-hardhat') })
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`${error.message.replaceAll(/^/gm, 'set-up: ')}\n`)
    process.exitCode = 1
  }
}
