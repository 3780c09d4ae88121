/** Deepest nesting of a body. */
const maxLevels = 64

/** Whether a text nests deeper than 64 levels, without parsing it. One that ends inside of a level is left to the parser. */
export function isTooDeep(text: string): boolean {
  // Most texts are too short for that, or open too few.
  if (text.length <= 2 * maxLevels || opened(text, '[') + opened(text, '{') <= maxLevels) return false
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

const [quote, openList, openObject, closeList, closeObject] = [...'"[{]}'].map((one) => one.charCodeAt(0))

/** How often a character occurs; counting ends when it is too often. */
function opened(text: string, opening: string): number {
  let count = 0
  for (let at = text.indexOf(opening); at !== -1 && count <= maxLevels; at = text.indexOf(opening, at + 1)) count++
  return count
}

/** The place of the closing quotation mark, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
