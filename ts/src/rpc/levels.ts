/** Maximum nesting of a body. */
const maxLevels = 64

/** Returns whether the parsed value of a text nests deeper than 64 levels. */
export function isTooDeep(value: unknown, text: string): boolean {
  // Most texts are too short or have too few levels. The engine parses any nesting without recursion.
  return text.length > 2 * maxLevels && opensMoreThan(maxLevels, text) && isDeeper(value, maxLevels)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isContainer(value)) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((element) => isContainer(element) && isDeeper(element, levels - 1))
  // `Object.values` would make a list for each object.
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (isContainer(member) && isDeeper(member, levels - 1)) return true
  }
  return false
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

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
