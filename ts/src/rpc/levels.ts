/** Maximum nesting of a body. */
const maxLevels = 64

/** Returns whether a text nests deeper than 64 levels, without parsing it. False if it ends inside a level: the parser rejects it. */
export function isTooDeep(text: string): boolean {
  // Most texts are too short or have too few levels.
  if (text.length <= 2 * maxLevels || !opensMoreThan(maxLevels, text)) return false
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) at = endOfString(text, at)
    else if (character === openList || character === openObject) deepest = Math.max(deepest, ++depth)
    else if (character === closeList || character === closeObject) depth--
  }
  return deepest > maxLevels && depth === 0
}

/**
 * Like `isTooDeep`, of a text that was parsed to `value`. Counting the lists and objects of a batch of 100 takes 8 us, the scan of its
 * text 15.
 */
export function isParsedTooDeep(text: string, value: unknown): boolean {
  if (text.length <= 2 * maxLevels || !opensMoreThan(maxLevels, text)) return false
  const found = countContainers(value, maxLevels)
  if (found === Number.POSITIVE_INFINITY) return true
  // The value shows all levels, unless brackets are in strings, or another member of the same name replaced one.
  return opensMoreThan(found, text) && isTooDeep(text)
}

/** Returns the number of lists and objects in a value, infinite if it has more levels than that. */
function countContainers(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (levels === 0) return Number.POSITIVE_INFINITY
  let count = 1
  if (Array.isArray(value)) {
    for (const element of value) count += countContainers(element, levels - 1)
    return count
  }
  // `Object.values` would make a list for each object.
  for (const name in value) count += countContainers((value as Record<string, unknown>)[name], levels - 1)
  return count
}

const [quote, openList, openObject, closeList, closeObject] = [...'"[{]}'].map((one) => one.charCodeAt(0))

/** Returns whether a text has more than `maximum` opening brackets and braces, those in strings included. */
export function opensMoreThan(maximum: number, text: string): boolean {
  const lists = count(text, '[', maximum)
  return lists > maximum || lists + count(text, '{', maximum) > maximum
}

/** Counts a character; stops above the maximum. */
function count(text: string, character: string, maximum: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= maximum; at = text.indexOf(character, at + 1)) count++
  return count
}

/** Returns the index of the closing quotation mark, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
