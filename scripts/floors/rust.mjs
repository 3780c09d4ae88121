// Files of a crate and their dependencies, as far as paths in the source name them. Test code is left out.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The modules of a crate: `Map<module path, { path, text, children, uses, exports }>`. `text` has neither comments nor literals
 * nor tests. Starts at `folder/src/lib.rs`, or `main.rs` if there is no library.
 */
export function modulesOf(folder) {
  const modules = new Map()
  const entry = [join(folder, 'src/lib.rs'), join(folder, 'src/main.rs')].find(existsSync)
  if (entry !== undefined) load(modules, 'crate', entry, dirname(entry))
  return modules
}

function load(modules, name, path, childFolder) {
  const text = withoutTests(withoutLiterals(readFileSync(path, 'utf8')))
  const declared = [...text.matchAll(/^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);/gm)].map((match) => match[1])
  const uses = []
  const exports = new Map()
  for (const [, isPublic, tree] of text.matchAll(/^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);/gm)) {
    for (const { segments, alias } of flatten(tree)) {
      if (isPublic === undefined) uses.push(segments)
      else exports.set(alias ?? segments.at(-1), segments)
    }
  }
  modules.set(name, { path, text, children: declared, uses, exports })
  for (const child of declared) {
    const file = [join(childFolder, `${child}.rs`), join(childFolder, child, 'mod.rs')].find(existsSync)
    if (file !== undefined) load(modules, `${name}::${child}`, file, join(childFolder, child))
  }
}

/** Which file uses which: `Map<path, Set<path>>`. A re-export leads to the file that defines the item. */
export function dependencies(modules) {
  const graph = new Map()
  for (const [name, { path, text, children, uses }] of modules) {
    const body = text.replace(/^[ \t]*(?:pub(?:\([^)]*\))? )?use [^;]+;/gm, '')
    const inline = [...body.matchAll(/(?<![\w:])(?:\w+::)+\w+/g)]
      .map((match) => match[0].split('::'))
      .filter(([first]) => ['crate', 'super', 'self'].includes(first) || children.includes(first))
    const targets = new Set()
    for (const segments of [...uses, ...inline]) {
      const target = resolve(modules, name, segments)
      if (target !== undefined && target !== path) targets.add(target)
    }
    graph.set(path, targets)
  }
  return graph
}

/** The file that defines the item which `segments` name in the module `from`; undefined if it belongs to another crate. */
function resolve(modules, from, segments, depth = 0) {
  let at = from
  const rest = [...segments]
  const first = rest[0]
  if (first === 'crate') at = 'crate'
  if (['crate', 'self'].includes(first)) rest.shift()
  else if (first !== 'super' && !modules.get(from).children.includes(first)) return undefined
  for (; rest[0] === 'super'; rest.shift()) at = at.replace(/::\w+$/, '')
  for (; rest.length > 0 && modules.has(`${at}::${rest[0]}`); rest.shift()) at = `${at}::${rest[0]}`
  const exported = modules.get(at)?.exports.get(rest[0])
  if (exported !== undefined && depth < 8) {
    const target = resolve(modules, at, exported, depth + 1)
    if (target !== undefined) return target
  }
  return modules.get(at)?.path
}

/** Types that the files define, `{ name, path }`, and `impl` blocks, `{ name, path }`. */
export function typesOf(modules) {
  const defined = []
  const implemented = []
  for (const { path, text } of modules.values()) {
    for (const [, name] of text.matchAll(/^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|union|trait) (\w+)/gm))
      defined.push({ name, path })
    for (const [, name] of text.matchAll(/^(?:pub(?:\([^)]*\))? )?type (\w+)/gm)) defined.push({ name, path })
    for (const [, head] of text.matchAll(/^\s*(?:unsafe )?impl\b([^{;]*)\{/gm)) {
      const plain = withoutGenerics(head).split(/\bwhere\b/)[0]
      const target = plain.split(/\bfor\b/).at(-1)
      const name = /(\w+)\s*$/.exec(target.trim())?.[1]
      if (name !== undefined) implemented.push({ name, path })
    }
  }
  return { defined, implemented }
}

function withoutGenerics(text) {
  let plain = text
  for (let before; before !== plain; ) {
    before = plain
    plain = plain.replace(/<[^<>]*>/g, '')
  }
  return plain
}

/** Paths of a use tree: `a::{b, c as d}` is `a::b` and `a::c`. */
function flatten(tree) {
  const tokens = tree.match(/\w+|::|[{},*]/g) ?? []
  let at = 0
  const paths = (prefix) => {
    const segments = [...prefix]
    let alias
    for (; at < tokens.length; at++) {
      const token = tokens[at]
      if (token === '{') {
        at++
        const found = []
        while (tokens[at] !== '}' && at < tokens.length) {
          found.push(...paths(segments))
          if (tokens[at] === ',') at++
        }
        at++
        return found
      }
      if (token === ',' || token === '}') break
      if (token === 'as') {
        alias = tokens[at + 1]
        at++
      } else if (token !== '::' && token !== '*') segments.push(token)
    }
    if (segments.at(-1) === 'self' && segments.length > 1) segments.pop()
    return [{ segments, alias }]
  }
  return paths([])
}

/** Comments removed, literals emptied; lines stay. */
function withoutLiterals(source) {
  return source.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?r(#*)"[\s\S]*?"\1|b?"(?:[^"\\]|\\[\s\S])*"|b?'(?:[^'\\\n]|\\[^\n]*?)'(?!\w)/g,
    (found) => (found.startsWith('/') ? '' : '""') + '\n'.repeat(found.split('\n').length - 1),
  )
}

/** Without the items behind `#[cfg(test)]`. */
function withoutTests(source) {
  let text = source
  for (let at = text.indexOf('#[cfg(test)]'); at >= 0; at = text.indexOf('#[cfg(test)]', at)) {
    const end = endOfItem(text, at + '#[cfg(test)]'.length)
    text = text.slice(0, at) + text.slice(end)
  }
  return text
}

/** Behind the `;` or the closing brace of the item that starts at `from`. */
function endOfItem(text, from) {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === ';' && depth === 0) return at + 1
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}
