import { timingSafeEqual } from 'node:crypto'
import type { Caller } from '../rpc/caller.ts'
import { hashOf, isApiKey } from './apiKey.ts'
import type { MethodGroups } from './methodGroups.ts'
import { type Access, type Authenticated, type ClientInfo, type PolicyRefusal, Profile } from './profile.ts'

/** The valid keys, as the main thread sends them to the workers. */
export interface Keys {
  /** Requests need no key. */
  readonly isOpen: boolean
  /** Keys cannot be checked, or must not be relied on, until the store is back. */
  readonly isWithheld?: boolean
  readonly apps: readonly Access[]
  /** `app`: the index in `apps`. */
  readonly keys: readonly { readonly hash: string; readonly expiresAt: number | null; readonly app: number }[]
}

/** A valid key; in open mode the entry of all requests. */
export interface KeyEntry {
  readonly hash: Buffer
  /** Start of the hash, by which the entry is found. */
  readonly prefix: string
  readonly expiresAt: number
  readonly profile: Profile | undefined
  /** The admission of every request with this key; undefined if it depends on the client. */
  readonly admission: Admission | undefined
}

/** Authentication result of a request or a connection. */
export interface Admission {
  readonly key: KeyEntry
  readonly caller: Caller | undefined
  /** When the key or the token expires, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Needed to check the client again after a change of the policy; undefined if the policy did not depend on it. */
  readonly client: ClientInfo | undefined
}

/** Why a request is refused. */
export type Refusal = 'key' | PolicyRefusal

const never = Number.POSITIVE_INFINITY
/** Compared with the hash of an unknown key, so that the comparison takes the same time. */
const unknownKey = keyEntry(Buffer.alloc(32), 0, undefined)
/** The entry of all requests in open mode. */
const openAccess = keyEntry(Buffer.alloc(32), never, undefined)

/** One worker's copy of the valid keys and the policies of their apps. */
export class Keyring {
  readonly #memory: SharedArrayBuffer
  readonly #groups: MethodGroups
  readonly #now: () => number
  #isOpen = false
  #isWithheld = false
  #entries: ReadonlyMap<string, KeyEntry> = new Map()
  #profiles: ReadonlyMap<string, { readonly text: string; readonly profile: Profile }> = new Map()
  readonly #listeners: (() => void)[] = []

  /** `memory` contains the meters of the apps. */
  constructor(keys: Keys, memory: SharedArrayBuffer, groups: MethodGroups, now: () => number = Date.now) {
    this.#memory = memory
    this.#groups = groups
    this.#now = now
    this.replace(keys)
  }

  /** Replaces all keys. Unchanged entries stay the same objects, so that their admissions need no new check. */
  replace({ isOpen, isWithheld = false, apps, keys }: Keys): void {
    this.#isOpen = isOpen
    this.#isWithheld = isWithheld
    this.#profiles = new Map(
      apps.map((access) => {
        const text = JSON.stringify(access)
        const before = this.#profiles.get(access.name)
        if (before?.text === text) return [access.name, before]
        return [access.name, { text, profile: new Profile(access, this.#memory, this.#groups, this.#now) }]
      }),
    )
    this.#entries = new Map(
      keys.map(({ hash, expiresAt: end, app }) => {
        const profile = this.#profiles.get(apps[app]?.name ?? '')?.profile
        const expiresAt = end ?? never
        const bytes = Buffer.from(hash, 'hex')
        const before = this.#entries.get(prefixOf(bytes))
        const isSame = before?.expiresAt === expiresAt && before.profile === profile && before.hash.equals(bytes)
        const entry = isSame ? before : keyEntry(bytes, expiresAt, profile)
        return [entry.prefix, entry]
      }),
    )
    for (const listener of this.#listeners) listener()
  }

  /** Adds a listener for each replacement: open connections may have lost their admission. */
  onReplaced(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Returns whether requests need no key. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Returns whether keys cannot be checked now. Requests with a key are then refused with 503. */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  /** Returns the entry of a key; undefined if the key is unknown, revoked or expired. */
  identify(key: string): KeyEntry | undefined {
    if (this.#isOpen) return openAccess
    return isApiKey(key) ? this.#find(hashOf(key)) : undefined
  }

  /** Checks a client with a valid key against the policy. Returns a promise only if a token has to be verified. */
  admit(key: KeyEntry, client: ClientInfo): Admission | Refusal | Promise<Admission | Refusal> {
    if (key.admission !== undefined || key.profile === undefined) return key.admission ?? 'key'
    const result = key.profile.admit(client)
    if (!(result instanceof Promise)) return admission(key, result, client)
    return result.then((one) => admission(key, one, client))
  }

  /** Returns whether an admission is still valid as it is. */
  isValid({ key, expiresAt }: Admission): boolean {
    if (key === openAccess) return this.#isOpen
    return this.#now() < expiresAt && this.#entries.get(key.prefix) === key
  }

  /** Validates an earlier admission again. Without client information it is refused if the policy now depends on the client. */
  renew(admission: Admission): Admission | Refusal | Promise<Admission | Refusal> {
    if (this.isValid(admission)) return admission
    const { key, client } = admission
    const fresh = this.#isOpen ? openAccess : this.#find(key.hash)
    if (fresh === undefined || client === undefined) return fresh?.admission ?? 'key'
    return this.admit(fresh, client)
  }

  /** Finds an entry by the prefix of its hash and compares the whole hash in constant time, for unknown keys as well. */
  #find(hash: Buffer): KeyEntry | undefined {
    const entry = this.#entries.get(prefixOf(hash)) ?? unknownKey
    const isEqual = timingSafeEqual(hash, entry.hash)
    return isEqual && this.#now() < entry.expiresAt ? entry : undefined
  }
}

function keyEntry(hash: Buffer, expiresAt: number, profile: Profile | undefined): KeyEntry {
  const entry: { -readonly [name in keyof KeyEntry]: KeyEntry[name] } = {
    hash,
    prefix: prefixOf(hash),
    expiresAt,
    profile,
    admission: undefined,
  }
  if (profile?.dependsOnClient !== true) {
    entry.admission = { key: entry, caller: profile?.caller, expiresAt, client: undefined }
  }
  return entry
}

function admission(key: KeyEntry, result: Authenticated | PolicyRefusal, client: ClientInfo): Admission | Refusal {
  if (typeof result === 'string') return result
  return { key, caller: result.caller, expiresAt: Math.min(key.expiresAt, result.expiresAt), client }
}

function prefixOf(hash: Buffer): string {
  return hash.toString('hex', 0, 8)
}
