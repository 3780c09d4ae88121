import { randomBytes } from 'node:crypto'

/** Returns an id that cannot be guessed, in the form of a QUANTITY: no leading zeros. */
export function newId(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0] ?? 0) | 0x80
  return `0x${bytes.toString('hex')}`
}
