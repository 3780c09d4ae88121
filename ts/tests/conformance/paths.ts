// Paths of the transcripts: `$.response.result[0].hash`, `[*]` for any index, `..x` for x at any depth.

type Segment =
  | { readonly kind: 'member' | 'anywhere'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number | '*' }

function parse(path: string): Segment[] {
  const found = path.matchAll(/(\.\.?)([^.[\]]+)|\[(\d+|\*)\]/g)
  return [...found].map(([, dots, name = '', index]): Segment => {
    if (index !== undefined) return { kind: 'index', index: index === '*' ? '*' : Number(index) }
    return { kind: dots === '..' ? 'anywhere' : 'member', name }
  })
}

/** Replaces the value at a path by the result of `change`; undefined removes it. Does nothing if the path does not exist. */
export function changeAt(root: unknown, path: string, change: (value: unknown) => unknown): void {
  apply(root, parse(path), change)
}

/** Returns the first value at a path. */
export function valueAt(root: unknown, path: string): unknown {
  let found: unknown
  changeAt(root, path, (value) => {
    found ??= value
    return value
  })
  return found
}

function apply(value: unknown, path: readonly Segment[], change: (value: unknown) => unknown): void {
  const [first, ...rest] = path
  if (first === undefined || typeof value !== 'object' || value === null) return
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members)) {
    if (!isMeant(first, name, Array.isArray(value))) continue
    if (rest.length > 0) apply(members[name], rest, change)
    else replace(members, name, change(members[name]))
  }
  if (first.kind === 'anywhere') for (const member of Object.values(members)) apply(member, path, change)
}

function isMeant(segment: Segment, name: string, isList: boolean): boolean {
  if (segment.kind !== 'index') return !isList && segment.name === name
  return isList && (segment.index === '*' || String(segment.index) === name)
}

function replace(members: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete members[name]
  else members[name] = value
}
