// Sets up what is missing: packages, the native addon, the bundle. Runs before every start and test; when nothing
// changed it only compares fingerprints. Needs nothing but Node.js itself.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon, hasAddon } from './setup/addon.mjs'
import { buildBundle } from './setup/bundle.mjs'
import { fingerprint, Stamps } from './setup/fingerprint.mjs'
import { phase, run, SetupError } from './setup/run.mjs'
import { checkNode } from './setup/tools.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Brings everything up to date. `parts` can leave the addon out, for work on the TypeScript side alone. */
export async function setup(parts = { addon: true }) {
  checkNode()
  // Kept with the packages: when those are thrown away, everything is looked at again.
  const stamps = new Stamps(`${root}/node_modules/.rhizome-setup.json`)
  const steps = [
    {
      name: 'packages',
      inputs: () => fingerprint(root, ['package-lock.json']) + process.versions.modules,
      isThere: () => true,
      build: () =>
        phase('installing packages', () =>
          run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
            cwd: root,
            shell: process.platform === 'win32',
          }),
        ),
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
      inputs: () => fingerprint(root, ['ts/src', 'scripts/setup/bundle.mjs', 'package-lock.json'], ['rhizome.node']),
      isThere: () => existsSync(`${root}/ts/dist/cli.js`),
      build: () => buildBundle(root),
    },
  ]
  for (const { name, inputs, isThere, build } of steps) {
    if (name === 'addon' && !parts.addon) continue
    const value = inputs()
    if (stamps.isCurrent(name, value) && isThere()) continue
    await build()
    stamps.set(name, value)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setup({ addon: !process.argv.includes('--without-addon') })
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`${error.message.replaceAll(/^/gm, 'set-up: ')}\n`)
    process.exitCode = 1
  }
}
