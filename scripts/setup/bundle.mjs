// Bundles the TypeScript program: each worker loads a few files many times faster than hundreds of modules.
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declare } from './declarations.mjs'

/** Without comments, blank space and long names of variables. Names of functions and classes stay, for stack traces. */
const keepNames = { function: true, class: true }
const minify = { compress: true, mangle: { keepNames }, codegen: true }
const output = { format: 'esm', entryFileNames: '[name].js', minify }

export async function buildBundle(root) {
  const { build } = await import('rolldown')
  const [place, fresh, old] = ['ts/dist', 'ts/dist.new', 'ts/dist.old'].map((path) => join(root, path))
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true })
  await build({
    cwd: root,
    input: {
      cli: 'ts/src/cli.ts',
      worker: 'ts/src/worker.ts',
      typedDataThread: 'ts/src/keystore/typedDataThread.ts',
      index: 'ts/src/index.ts',
      verify: 'ts/src/verify/index.ts',
      bridge: 'ts/src/bridge/developmentBridge.ts',
    },
    platform: 'node',
    // Loads its native binary from its own folder.
    external: ['uWebSockets.js'],
    logLevel: 'warn',
    plugins: [await shortNames()],
    output: { ...output, dir: fresh, chunkFileNames: '[name].js' },
  })
  await buildPage(root, 'admin', join(fresh, 'page'))
  await buildPage(root, 'explorer', join(fresh, 'explorer'))
  const { schema } = await loadBundle(root, 'schema', 'ts/src/config/schema.ts')
  await declare(root, join(fresh, 'types'), schema)
  // Swapped by one rename: a node that starts meanwhile finds the old bundle or the new one.
  if (existsSync(place)) renameSync(place, old)
  renameSync(fresh, place)
  rmSync(old, { recursive: true, force: true })
}

/** Returns a plugin that shortens all names in files with code of libraries mostly: stack traces rarely end there. Saves 7 % of the bundle. */
async function shortNames() {
  const { minifySync } = await import('rolldown/utils')
  const isOfLibraries = ({ type, modules }) => {
    if (type !== 'chunk') return false
    const lengthOf = (parts) => parts.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0)
    const parts = Object.entries(modules)
    return lengthOf(parts.filter(([id]) => id.includes('/node_modules/'))) > 0.75 * lengthOf(parts)
  }
  return {
    name: 'short-names',
    generateBundle(_options, files) {
      for (const file of Object.values(files).filter(isOfLibraries)) {
        file.code = minifySync(file.fileName, file.code, { module: true, mangle: { toplevel: true } }).code
      }
    },
  }
}

/** Bundles the operator's page or the explorer: one script for browsers, the styles of both, the other files unchanged. */
async function buildPage(root, name, place) {
  const { build } = await import('rolldown')
  const source = `ts/src/${name}/page`
  await build({
    cwd: root,
    input: { page: `${source}/main.ts` },
    platform: 'browser',
    logLevel: 'warn',
    output: { ...output, dir: place },
  })
  copyFileSync(join(root, source, 'index.html'), join(place, 'index.html'))
  copyFileSync(join(root, 'ts/src/admin/page/icon.svg'), join(place, 'icon.svg'))
  const styles = ['ts/src/admin/page/page.css', ...(name === 'explorer' ? [`${source}/explorer.css`] : [])]
  const css = styles.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  writeFileSync(join(place, 'page.css'), css.replace(/\/\*.*?\*\//gs, '').replace(/^\s+/gm, ''))
}

/** Bundles a TypeScript module and imports it, for scripts. */
export async function loadBundle(root, name, input) {
  const { build } = await import('rolldown')
  const dir = join(root, 'node_modules/.cache/bundles')
  await build({
    cwd: root,
    input: { [name]: input },
    platform: 'node',
    external: ['ws'],
    logLevel: 'warn',
    output: { dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  })
  return import(join(dir, `${name}.mjs`))
}
