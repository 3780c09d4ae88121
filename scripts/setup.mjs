// Sets up what is missing: packages, the native addon, the bundle. Runs before every start and test; when nothing
// changed it only compares fingerprints. Needs nothing but Node.js itself.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon, hasAddon } from './setup/addon.mjs'
import { buildBundle } from './setup/bundle.mjs'
import { fingerprint, Stamps } from './setup/fingerprint.mjs'
import { phase, run, SetupError, stopAll } from './setup/run.mjs'
import { checkHttpServer, checkSystem } from './setup/tools.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What the addon's step writes among the sources, maybe at the same time. */
const native = ['rhizome.node', 'rhizome.node.new']

/** Projects with packages of their own, for Hardhat 2 and 3: nothing but their tests needs them. */
const hardhatProjects = ['ts/tests/hardhat', 'ts/tests/hardhat3']

/** Brings everything up to date. `parts` can leave the addon out, and add the packages that only tests need. */
export async function setup(parts = { addon: true }) {
  checkSystem(root)
  // Kept with the packages: when those are thrown away, everything is looked at again.
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
    inputs: () => fingerprint(root, ['Cargo.toml', 'Cargo.lock', 'crates'], ['tests', 'benches', 'examples', 'target']),
    isThere: () => hasAddon(root),
    build: () => buildAddon(root),
  }
  try {
    // Packages come from the network while the compiler has the processors. Stamps go into the folder that npm empties
    // first, so that of the addon waits.
    const installed = bringUpToDate(packages, stamps).then((setStamps) => setStamps())
    const [setStamps] = await Promise.all([bringUpToDate([addon], stamps), installed])
    setStamps()
  } catch (error) {
    stopAll()
    throw error
  }
}

/** Builds what its stamp does not name; returns what sets the stamps. */
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
