import { invalidParams } from './errors.ts'
import { maxParsedBytes } from './largeBody.ts'
import { LargeText } from './largeText.ts'

const [quote, backslash, colon, comma, closing] = [...'"\\:,}'].map((one) => one.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
]

/**
 * Returns the members of an object that is too large to be parsed here: small values parsed, large ones as text. Undefined
 * for other values. Lists and objects among the members must be small.
 */
export function membersOf(text: LargeText): Record<string, unknown> | undefined {
  const { bytes } = text
  if (bytes[0] !== 0x7b) return undefined
  const members: Record<string, unknown> = {}
  let at = bytes.indexOf(quote)
  while (at !== -1) {
    const nameEnd = endOfText(bytes, at)
    const start = skipSpace(bytes, bytes.indexOf(colon, nameEnd) + 1)
    const end = endOfValue(bytes, start)
    members[parsed(bytes, at, nameEnd) as string] = parsed(bytes, start, end)
    at = bytes.indexOf(quote, end)
  }
  return members
}

function parsed(bytes: Buffer, start: number, end: number): unknown {
  return end - start > maxParsedBytes / 16
    ? new LargeText(rangesOf(bytes), start, end)
    : JSON.parse(bytes.toString('utf8', start, end))
}

function rangesOf(bytes: Buffer): ConstructorParameters<typeof LargeText>[0] {
  const part = (start: number, end: number): Buffer => bytes.subarray(start, end)
  return { bytes: part, part, text: (start, end) => bytes.toString('utf8', start, end) }
}

function endOfValue(bytes: Buffer, start: number): number {
  if (bytes[start] === quote) return endOfText(bytes, start)
  let depth = 0
  for (let at = start; at < start + maxParsedBytes; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at) - 1
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if (depth === 0 && (byte === comma || byte === closing)) return at
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
  throw invalidParams('Invalid object: too large')
}

/** Behind the closing quotation mark. */
function endOfText(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  for (;;) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end + 1
    end = bytes.indexOf(quote, end + 1)
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}
