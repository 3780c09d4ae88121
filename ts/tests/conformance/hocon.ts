// The part of HOCON that the profiles of the transcripts use: nested objects, dotted keys, lists, texts, numbers, flags.

export type Value = string | number | boolean | readonly Value[] | Tree
export interface Tree {
  readonly [name: string]: Value
}

/** Parses a profile. Commas and line breaks both end a member. */
export function parseHocon(text: string): Tree {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]=:,\n]|[^\s{}[\]=:,"]+/g) ?? []
  let position = 0
  const skip = (...names: string[]): void => {
    while (names.includes(tokens[position] ?? '')) position++
  }
  const value = (): Value => {
    skip('\n')
    const token = tokens[position++] ?? ''
    if (token === '{') return members('}')
    if (token === '[') return elements()
    return scalar(token)
  }
  const elements = (): Value[] => {
    const list: Value[] = []
    for (skip(',', '\n'); tokens[position] !== ']'; skip(',', '\n')) list.push(value())
    position++
    return list
  }
  const members = (end: string | undefined): Tree => {
    const tree: Record<string, Value> = {}
    for (skip(',', '\n'); tokens[position] !== end; skip(',', '\n')) {
      const key = tokens[position++] ?? ''
      skip('=', ':')
      put(tree, key.split('.'), value())
    }
    position++
    return tree
  }
  return members(undefined)
}

function scalar(token: string): Value {
  if (token.startsWith('"')) return JSON.parse(token) as string
  if (token === 'true' || token === 'false') return token === 'true'
  return Number.isNaN(Number(token)) ? token : Number(token)
}

/** Merges objects with the same key. */
function put(tree: Record<string, Value>, [first = '', ...rest]: readonly string[], value: Value): void {
  const old = tree[first]
  const inner = isTree(old) ? { ...old } : {}
  if (rest.length > 0) put(inner, rest, value)
  else if (isTree(value)) for (const [name, member] of Object.entries(value)) put(inner, [name], member)
  tree[first] = rest.length > 0 || isTree(value) ? inner : value
}

function isTree(value: Value | undefined): value is Tree {
  return typeof value === 'object' && !Array.isArray(value)
}

/** Returns the value at a dotted path. */
export function at(tree: Tree, path: string): Value | undefined {
  let found: Value | undefined = tree
  for (const name of path.split('.')) found = isTree(found) ? found[name] : undefined
  return found
}
