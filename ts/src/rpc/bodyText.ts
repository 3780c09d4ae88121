import { isUtf8 } from 'node:buffer'

/** Returns the text of a body without a byte order mark; undefined if it is not UTF-8. */
export function bodyText(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return bytes.toString('utf8', start)
}
