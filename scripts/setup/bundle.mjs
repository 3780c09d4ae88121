// The TypeScript program, bundled: one file loads many times faster than hundreds of modules, in every worker again.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export async function buildBundle(root) {
  const { build } = await import('rolldown')
  const [place, fresh, old] = ['ts/dist', 'ts/dist.new', 'ts/dist.old'].map((path) => join(root, path))
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true })
  await build({
    cwd: root,
    input: { cli: 'ts/src/cli.ts', worker: 'ts/src/worker.ts', index: 'ts/src/index.ts' },
    platform: 'node',
    // Native: loads the binary beside its own files.
    external: ['uWebSockets.js'],
    logLevel: 'warn',
    output: { dir: fresh, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
  })
  // Swapped at once: who starts a node meanwhile finds the old bundle or the new one.
  if (existsSync(place)) renameSync(place, old)
  renameSync(fresh, place)
  rmSync(old, { recursive: true, force: true })
}

/** The replay of transcripts, which is TypeScript of the tests: bundled when it is needed. */
export async function loadReplay(root) {
  const { build } = await import('rolldown')
  const dir = join(root, 'node_modules/.cache/conformance')
  await build({
    cwd: root,
    input: { replay: 'ts/tests/conformance/main.ts' },
    platform: 'node',
    external: ['ws'],
    logLevel: 'warn',
    output: { dir, format: 'esm', entryFileNames: '[name].mjs' },
  })
  return import(join(dir, 'replay.mjs'))
}
