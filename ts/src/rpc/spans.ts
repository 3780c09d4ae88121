// Spans of values in a JSON text that JSON.parse has accepted. JSON.parse does not return them, and parameters that are
// objects cross to the core as they were sent. On the body of a usual eth_call the search takes less time than JSON.parse
// of the same body: about 1.0 against 1.6 microseconds.

const [quote, backslash, comma, colon, openList, closeList, openObject, closeObject] = [...'"\\,:[]{}'].map((one) =>
  one.charCodeAt(0),
)

/** Returns the span of a member of the object at `at`; undefined if absent. The last of equal members counts, as in JSON.parse. */
export function memberSpan(json: string, at: number, name: string): readonly [start: number, end: number] | undefined {
  if (json.charCodeAt(at) !== openObject) return undefined
  let found: readonly [number, number] | undefined
  let position = skipSpace(json, at + 1)
  while (json.charCodeAt(position) === quote) {
    const keyEnd = skipString(json, position)
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = skipValue(json, start)
    if (isName(json, position, keyEnd, name)) found = [start, end]
    position = skipSpace(json, skipSpace(json, end) + 1)
  }
  return found
}

/** Returns the spans of the elements of the list at `at`: start and end of each. */
export function elementSpans(json: string, at: number): number[] {
  const spans: number[] = []
  let position = skipSpace(json, at + 1)
  while (position < json.length && json.charCodeAt(position) !== closeList) {
    const end = skipValue(json, position)
    spans.push(position, end)
    position = skipSpace(json, end)
    if (json.charCodeAt(position) === comma) position = skipSpace(json, position + 1)
  }
  return spans
}

export function skipSpace(json: string, at: number): number {
  let position = at
  while (isSpace(json.charCodeAt(position))) position++
  return position
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function isName(json: string, start: number, end: number, name: string): boolean {
  if (end - start === name.length + 2) return json.startsWith(name, start + 1)
  const key = json.slice(start, end)
  return key.includes('\\') && JSON.parse(key) === name
}

/** Returns the index behind the closing quotation mark. */
function skipString(json: string, at: number): number {
  let end = json.indexOf('"', at + 1)
  for (;;) {
    let escapes = 0
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end + 1
    end = json.indexOf('"', end + 1)
  }
}

function skipValue(json: string, at: number): number {
  const first = json.charCodeAt(at)
  if (first === quote) return skipString(json, at)
  let position = at
  if (first !== openObject && first !== openList) {
    while (position < json.length && !isEnd(json.charCodeAt(position))) position++
    return position
  }
  let depth = 0
  do {
    const code = json.charCodeAt(position)
    if (code === quote) {
      position = skipString(json, position)
      continue
    }
    if (code === openObject || code === openList) depth++
    else if (code === closeObject || code === closeList) depth--
    position++
  } while (depth > 0)
  return position
}

/** Whether a character ends a number or a literal. */
function isEnd(code: number): boolean {
  return code === comma || code === closeList || code === closeObject || code === colon || isSpace(code)
}
