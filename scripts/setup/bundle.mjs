// The TypeScript program, bundled: one file loads many times faster than hundreds of modules, in every worker again.
import { rmSync } from 'node:fs'
import { join } from 'node:path'

export async function buildBundle(root) {
  const { build } = await import('rolldown')
  rmSync(join(root, 'ts/dist'), { recursive: true, force: true })
  await build({
    cwd: root,
    input: { cli: 'ts/src/cli.ts', worker: 'ts/src/worker.ts', index: 'ts/src/index.ts' },
    platform: 'node',
    // Native: loads the binary beside its own files.
    external: ['uWebSockets.js'],
    logLevel: 'warn',
    output: { dir: join(root, 'ts/dist'), format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
  })
}
