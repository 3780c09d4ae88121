import { createHash, randomBytes } from 'node:crypto'

const form = /^rz_[A-Za-z0-9_-]{43}$/

/** A new API key: 256 random bits behind a prefix that scanners for leaked secrets can look for. */
export function newApiKey(): string {
  return `rz_${randomBytes(32).toString('base64url')}`
}

/** Whether a text can be a key at all. Says nothing about secrets: the form is known to everybody. */
export function isApiKey(text: string): boolean {
  return form.test(text)
}

/**
 * SHA-256 of a key: all that is ever stored. A slow hash as for passwords would buy nothing: those protect secrets that
 * can be guessed, and 256 random bits cannot. It would cost every request, though.
 */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
