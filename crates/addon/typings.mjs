// Generates ts/src/native/addon.d.ts from the typings of the last build of the addon.
// With --check: fails if the committed file differs.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = join(root, 'ts/src/native/addon.d.ts')

const metadata = spawnSync('cargo', ['metadata', '--no-deps', '--format-version', '1'], { cwd: root, maxBuffer: 2 ** 26 })
const written = join(JSON.parse(metadata.stdout).target_directory, 'release/typings/rhizome-addon')
// Lint compiles the addon twice in parallel, and both builds append lines.
const lines = new Set(readFileSync(written, 'utf8').trim().split('\n'))
const exports = Array.from(lines, (line) => JSON.parse(line))
exports.sort((one, other) => (one.name < other.name ? -1 : 1))
const declarations = exports.map(({ js_doc: doc, def }) => `${doc}export declare ${def}\n`)
const typings = `// Generated from crates/addon by crates/addon/typings.mjs. Do not edit.\n\n${declarations.join('\n')}`

if (!process.argv.includes('--check')) writeFileSync(file, typings)
else if (readFileSync(file, 'utf8') !== typings) {
  console.error('ts/src/native/addon.d.ts is out of date. Build the addon and run: node crates/addon/typings.mjs')
  process.exitCode = 1
}
