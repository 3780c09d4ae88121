import { timingSafeEqual } from 'node:crypto'
import { hashOf, isApiKey } from './apiKey.ts'

/** The keys that are good now, as the main thread tells them to the workers. */
export interface Keys {
  /** Nobody is asked for a key. */
  readonly isOpen: boolean
  readonly keys: readonly { readonly hash: string; readonly expiresAt: number | null }[]
}

/** What a caller was let in with: the hash of the key, empty where none is asked for. */
export type Credential = string

interface Entry {
  readonly hash: Buffer
  readonly expiresAt: number
}

const nobody: Entry = { hash: Buffer.alloc(32), expiresAt: 0 }

/** One worker's copy of the good keys. */
export class Keyring {
  readonly #now: () => number
  #isOpen = false
  #entries: ReadonlyMap<string, Entry> = new Map()
  readonly #listeners: (() => void)[] = []

  constructor(keys: Keys, now: () => number = Date.now) {
    this.#now = now
    this.replace(keys)
  }

  replace({ isOpen, keys }: Keys): void {
    this.#isOpen = isOpen
    this.#entries = new Map(
      keys.map(({ hash, expiresAt }) => [
        place(hash),
        { hash: Buffer.from(hash, 'hex'), expiresAt: expiresAt ?? Number.POSITIVE_INFINITY },
      ]),
    )
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after each change: connections that were let in before may have to go. */
  onReplaced(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Nobody is asked for a key. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Undefined when the key is unknown, revoked or expired. */
  identify(key: string): Credential | undefined {
    if (this.#isOpen) return ''
    if (!isApiKey(key)) return undefined
    const hash = hashOf(key)
    const hex = hash.toString('hex')
    return this.#isKnown(hash, hex) ? hex : undefined
  }

  /** Whether who was let in once would be again. */
  isGood(credential: Credential): boolean {
    if (this.#isOpen || credential === '') return this.#isOpen
    return this.#isKnown(Buffer.from(credential, 'hex'), credential)
  }

  /** The place is found by a part of the hash; whether the whole is equal is told in constant time, also where there is none. */
  #isKnown(hash: Buffer, hex: string): boolean {
    const { hash: expected, expiresAt } = this.#entries.get(place(hex)) ?? nobody
    const isEqual = timingSafeEqual(hash, expected)
    return isEqual && this.#now() < expiresAt
  }
}

function place(hex: string): string {
  return hex.slice(0, 16)
}
