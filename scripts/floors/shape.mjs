// Limits of circles, of types spread over files, and of names used twice.
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { circles } from './circles.mjs'
import { knownCircles, sharedNames, spreadTypes } from './exceptions.mjs'
import { dependencies, modulesOf, typesOf } from './rust.mjs'

/** Most files of a circle, and most files with `impl` blocks of one type. */
const most = 3

/** Crates whose circles are refused. Those of the others are reported: a table of precompiles and its entries form one. */
const crates = ['answers', 'chain', 'addon']

/** `{ problems, notes }` as lines. `typeScript`: which file imports which, as `Map<path, Set<path>>`. */
export function checkShape(root, typeScript) {
  const problems = []
  const notes = []
  const defined = new Map()
  for (const crate of readdirSync(join(root, 'crates'))) {
    const folder = join(root, 'crates', crate)
    if (!existsSync(join(folder, 'Cargo.toml'))) continue
    const modules = modulesOf(folder)
    const target = crates.includes(crate) ? problems : notes
    target.push(...circlesOf(root, `crate ${crate}`, dependencies(modules)))
    const types = typesOf(modules)
    problems.push(...spreadOf(root, crate, types))
    for (const { name, path } of types.defined) defined.set(name, [...(defined.get(name) ?? []), relative(root, path)])
  }
  problems.push(...circlesOf(root, 'ts/src', typeScript))
  for (const [name, paths] of defined) {
    const isAllowed = sharedNames.some((exception) => exception.name === name)
    if (paths.length > 1 && !isAllowed)
      problems.push(`type ${name}: defined ${paths.length} times: ${paths.join(', ')}`)
    if (paths.length === 1 && isAllowed)
      problems.push(`type ${name}: defined once; remove it from scripts/floors/exceptions.mjs`)
  }
  return { problems, notes }
}

function circlesOf(root, where, graph) {
  return circles(graph, most)
    .map((members) => members.map((path) => relative(root, path)))
    .filter((members) => !knownCircles.some(({ files }) => members.every((path) => files.includes(path))))
    .map((members) => `${where}: circle of ${members.length} files: ${members.join(', ')}`)
}

function spreadOf(root, crate, { defined, implemented }) {
  return [...new Set(defined.map(({ name }) => name))].flatMap((name) => {
    const paths = [...new Set(implemented.filter((one) => one.name === name).map(({ path }) => relative(root, path)))]
    const isAllowed = spreadTypes.some((exception) => exception.crate === crate && exception.name === name)
    return paths.length > most && !isAllowed
      ? [`crate ${crate}: type ${name} has impl blocks in ${paths.length} files: ${paths.join(', ')}`]
      : []
  })
}
