// Checks that methods, table entries, exports of the addon and their bindings match, and that every method has tests.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Returns problems as lines. */
export function checkMethods(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const files = readdirSync(join(root, 'ts/src/methods'))
    .filter((name) => name.includes('_'))
    .map((name) => name.replace('.ts', ''))
  const rows = [...read('ts/src/methods/table.ts').matchAll(/name: '([^']+)'/g)].map((match) => match[1])
  // Quotas and rates count these units: a method without a price would be free.
  const prices = [
    ...read('ts/src/methods/table.ts').matchAll(/name: '([^']+)'(?:(?!name: ')[\s\S])*?cost: [1-9]\d*,/g),
  ].map((match) => match[1])
  const tests = [...allFiles(join(root, 'ts/tests')), ...allFiles(join(root, 'tests/vectors/rpc'))]
  const tested = tests.map(textOf).join('\n')
  const exported = allFiles(join(root, 'crates/addon/src')).flatMap((path) => napiFunctions(readFileSync(path, 'utf8')))
  const bound = [...read('ts/src/native/addon.d.ts').matchAll(/^export declare function (\w+)/gm)].map(
    (match) => match[1],
  )
  const sources = allFiles(join(root, 'ts/src')).filter((path) => path.endsWith('.ts') && !path.endsWith('addon.d.ts'))
  const used = sources.map((path) => readFileSync(path, 'utf8')).join('\n')
  return [
    ...missing(files, rows).map((name) => `ts/src/methods/${name}.ts has no row in table.ts`),
    ...missing(rows, prices).map((name) => `the row ${name} has no cost, or one that is no whole number above 0`),
    ...missing(rows, files).map((name) => `the row ${name} has no file in ts/src/methods`),
    ...rows
      .filter((name) => !tested.includes(name))
      .map((name) => `${name}: no test in ts/tests and no transcript in tests/vectors/rpc names it`),
    ...missing(exported, bound).map(
      (name) => `the addon exports ${name}, which ts/src/native/addon.d.ts does not know`,
    ),
    ...missing(bound, exported).map(
      (name) => `ts/src/native/addon.d.ts knows ${name}, which the addon does not export`,
    ),
    ...bound
      .filter((name) => !new RegExp(`\\b(native|addon|loadAddon\\(\\))\\.${name}\\b`).test(used))
      .map((name) => `nobody calls ${name} of the addon`),
  ]
}

function textOf(path) {
  const bytes = readFileSync(path)
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
}

function missing(names, among) {
  return names.filter((name) => !among.includes(name))
}

function napiFunctions(text) {
  const found = [...text.matchAll(/#\[napi(?:\([^\]]*\))?\](?:\s*#\[[^\]]*\])*\s*pub fn ([a-z0-9_]+)/g)].map(
    (match) => match[1],
  )
  return found.map((name) => name.replace(/_([a-z0-9])/g, (_all, letter) => letter.toUpperCase()))
}

function allFiles(folder) {
  let names
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  // Test projects have separate packages.
  return names
    .filter((name) => name !== 'node_modules')
    .flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? allFiles(path) : [path]
    })
}

if (process.argv[1]?.endsWith('check-methods.mjs')) {
  const problems = checkMethods(join(dirname(new URL(import.meta.url).pathname), '..'))
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
