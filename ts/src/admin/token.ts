import { readFileSync } from 'node:fs'
import { isLoopback } from '../config/addresses.ts'
import { ConfigError } from '../config/error.ts'
import type { Config } from '../config/schema.ts'
import { hashOfToken } from './admission.ts'

/**
 * Reads the token file and returns the hash of the token; undefined if no token is required, which is allowed on loopback
 * addresses only. Throws ConfigError.
 */
export function readToken(admin: Config['admin']): Buffer | undefined {
  const token = tokenText(admin)
  return token === undefined ? undefined : hashOfToken(token)
}

/** Reads the token file; undefined if no token is required. Throws ConfigError. */
export function tokenText({ host, tokenFile }: Pick<Config['admin'], 'host' | 'tokenFile'>): string | undefined {
  if (tokenFile === '') {
    if (isLoopback(host)) return undefined
    throw new ConfigError([`admin.host: other machines can reach ${host}: set admin.tokenFile`])
  }
  let text: string
  try {
    text = readFileSync(tokenFile, 'utf8').trim()
  } catch (error) {
    throw new ConfigError([
      `admin.tokenFile: ${tokenFile} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    ])
  }
  if (/^[\x21-\x7e]{24,512}$/.test(text)) return text
  throw new ConfigError([`admin.tokenFile: ${tokenFile}: expected one word of 24 characters or more`])
}
