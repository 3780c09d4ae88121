import { randomBytes } from 'node:crypto'

/** An id that cannot be guessed. A QUANTITY: no leading zeros. */
export function newId(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0] ?? 0) | 0x80
  return `0x${bytes.toString('hex')}`
}
