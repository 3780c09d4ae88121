// Sets up missing parts: packages, the native addon, the bundle. Runs before every start and test; if nothing has
// changed, it only compares fingerprints. Needs only Node.js itself.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon, hasAddon } from './setup/addon.mjs'
import { buildBundle } from './setup/bundle.mjs'
import { fingerprint, Stamps } from './setup/fingerprint.mjs'
import { phase, run, SetupError, stopAll } from './setup/run.mjs'
import { checkHttpServer, checkSystem } from './setup/tools.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Files that the addon's step writes into the sources, possibly at the same time. */
const native = ['rhizome.node', 'rhizome.node.new']

/** Projects for Hardhat 2 and 3 with separate packages, which only their tests need. */
const hardhatProjects = ['ts/tests/hardhat', 'ts/tests/hardhat3']

/** Brings all parts up to date. `parts` may exclude the addon, and include the packages that only tests need. */
export async function setup(parts = { addon: true }) {
  checkSystem(root)
  // Stored with the packages: when these are deleted, all parts are checked again.
  const stamps = new Stamps(`${root}/node_modules/.rhizome-setup.json`)
  const packages = [
    {
      name: 'packages',
      inputs: () => fingerprint(root, ['package-lock.json']) + process.versions.modules,
      isThere: () => true,
      build: async () => {
        await phase('installing packages', () => install(root))
        checkHttpServer(root)
      },
    },
    ...(parts.hardhat ? hardhatProjects : []).map((project) => ({
      name: project,
      inputs: () => fingerprint(root, [`${project}/package-lock.json`]) + process.versions.modules,
      isThere: () => existsSync(`${root}/${project}/node_modules/hardhat`),
      build: () =>
        phase(`installing the packages of ${project}`, () => install(`${root}/${project}`, '--ignore-scripts')),
    })),
    {
      name: 'bundle',
      inputs: () =>
        fingerprint(
          root,
          ['ts/src', 'scripts/setup/bundle.mjs', 'scripts/setup/declarations.mjs', 'package-lock.json'],
          native,
        ),
      isThere: () => existsSync(`${root}/ts/dist/cli.js`),
      build: () => buildBundle(root),
    },
  ]
  const addon = parts.addon && {
    name: 'addon',
    inputs: () =>
      fingerprint(
        root,
        ['.cargo', 'Cargo.toml', 'Cargo.lock', 'crates'],
        ['tests', 'benches', 'examples', 'conformance', 'target'],
      ),
    isThere: () => hasAddon(root),
    build: () => buildAddon(root),
  }
  try {
    // Packages are downloaded while the addon is compiled. npm first empties the folder of the stamps, so the stamp of the
    // addon is set after npm has finished.
    const installed = bringUpToDate(packages, stamps).then((setStamps) => setStamps())
    const [setStamps] = await Promise.all([bringUpToDate([addon], stamps), installed])
    setStamps()
  } catch (error) {
    stopAll()
    throw error
  }
}

/** Builds the steps whose stamps are out of date; returns a function that sets the stamps. */
async function bringUpToDate(steps, stamps) {
  const built = []
  for (const step of steps) {
    if (!step) continue
    const value = step.inputs()
    if (stamps.isCurrent(step.name, value) && step.isThere()) continue
    await step.build()
    built.push([step.name, value])
  }
  return () => {
    for (const [name, value] of built) stamps.set(name, value)
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
