import { createHash, randomBytes } from 'node:crypto'

const form = /^rz_[A-Za-z0-9_-]{43}$/

/** Returns a new API key: 256 random bits after a prefix that scanners for leaked secrets can find. */
export function newApiKey(): string {
  return `rz_${randomBytes(32).toString('base64url')}`
}

/** Returns whether a text has the form of a key. */
export function isApiKey(text: string): boolean {
  return form.test(text)
}

/**
 * Returns the SHA-256 of a key; the key itself is never stored. A slow hash protects secrets that can be guessed, which
 * 256 random bits cannot, and would make every request more expensive.
 */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
