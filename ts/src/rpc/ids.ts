// A request id is echoed exactly as it was sent. JSON.parse changes numbers such as `1.0` and integers above 2^53, so
// their text is cut out of the body. Usual ids do not need that.

const space = /[ \t\n\r]/

const oddNumber = /"id"\s*:\s*-?\d+[.eE]/

/** Returns the text to echo for the id of a single request. */
export function exactId(id: string | number | null, body: string): string {
  if (isPlain(id) && (typeof id !== 'number' || !oddNumber.test(body))) return plainText(id)
  return memberText(body, skipSpace(body, 0), 'id') ?? JSON.stringify(id)
}

/** Returns the texts to echo for the elements of a batch. */
export function exactIds(ids: readonly (string | number | null)[], body: string): string[] {
  if (ids.every(isPlain) && !oddNumber.test(body)) return ids.map(plainText)
  const texts: string[] = []
  let at = skipSpace(body, 0) + 1
  for (const id of ids) {
    at = skipSpace(body, at)
    const raw = typeof id === 'number' ? memberText(body, at, 'id') : undefined
    texts.push(raw ?? JSON.stringify(id))
    at = skipSpace(body, skipValue(body, at)) + 1
  }
  return texts
}

/** Writes an id that `isPlain` accepts. */
function plainText(id: string | number | null): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

/** Whether the parsed id, written again, equals its text, unless the body has a number with fraction or exponent. */
function isPlain(id: string | number | null): boolean {
  return typeof id !== 'number' || (Number.isSafeInteger(id) && !Object.is(id, -0))
}

/** Returns the text of a member of the object at `at`. The last of duplicates wins, as in JSON.parse. The body is valid JSON. */
function memberText(body: string, at: number, name: string): string | undefined {
  if (body[at] !== '{') return undefined
  let found: string | undefined
  let position = skipSpace(body, at + 1)
  while (body[position] === '"') {
    const keyEnd = skipString(body, position)
    const key: unknown = JSON.parse(body.slice(position, keyEnd))
    const valueStart = skipSpace(body, skipSpace(body, keyEnd) + 1)
    const valueEnd = skipValue(body, valueStart)
    if (key === name) found = body.slice(valueStart, valueEnd)
    position = skipSpace(body, skipSpace(body, valueEnd) + 1)
  }
  return found
}

function skipSpace(body: string, at: number): number {
  let position = at
  while (position < body.length && space.test(body.charAt(position))) position++
  return position
}

function skipString(body: string, at: number): number {
  let position = at + 1
  while (body[position] !== '"') position += body[position] === '\\' ? 2 : 1
  return position + 1
}

function skipValue(body: string, at: number): number {
  const first = body[at]
  if (first === '"') return skipString(body, at)
  if (first !== '{' && first !== '[') {
    let position = at
    while (position < body.length && !/[,\]}\s]/.test(body.charAt(position))) position++
    return position
  }
  let depth = 0
  let position = at
  do {
    const character = body[position]
    if (character === '"') {
      position = skipString(body, position)
      continue
    }
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    position++
  } while (depth > 0)
  return position
}
