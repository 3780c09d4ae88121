import { timingSafeEqual } from 'node:crypto'
import type { Caller } from '../rpc/caller.ts'
import { hashOf, isApiKey } from './apiKey.ts'
import type { MethodGroups } from './methodGroups.ts'
import { type Access, Profile, type Refused, type Visitor, type Welcome } from './profile.ts'

/** The keys that are good now, as the main thread tells them to the workers. */
export interface Keys {
  /** Nobody is asked for a key. */
  readonly isOpen: boolean
  /** Whether a key is good cannot be told, or may not be relied on, until the store is back. */
  readonly isWithheld?: boolean
  readonly apps: readonly Access[]
  /** `app`: the index in `apps`. */
  readonly keys: readonly { readonly hash: string; readonly expiresAt: number | null; readonly app: number }[]
}

/** A key that is good; in open mode, that none is needed. */
export interface KeyEntry {
  readonly hash: Buffer
  /** Where it is found. */
  readonly place: string
  readonly expiresAt: number
  readonly profile: Profile | undefined
  /** Where nothing but the key is looked at. */
  readonly admission: Admission | undefined
}

/** What a caller was let in with. */
export interface Admission {
  readonly key: KeyEntry
  readonly caller: Caller | undefined
  /** Milliseconds since 1970: when the key or the token ends. */
  readonly expiresAt: number
  /** To look at him again when what he may has changed; undefined where it did not matter. */
  readonly visitor: Visitor | undefined
}

/** Why somebody is not let in. */
export type Refusal = 'key' | Refused

const never = Number.POSITIVE_INFINITY
const nobody = keyEntry(Buffer.alloc(32), 0, undefined)
/** Everybody, where no key is asked for. */
const anybody = keyEntry(Buffer.alloc(32), never, undefined)

/** One worker's copy of the good keys, and of what those who have them may do. */
export class Keyring {
  readonly #memory: SharedArrayBuffer
  readonly #groups: MethodGroups
  readonly #now: () => number
  #isOpen = false
  #isWithheld = false
  #entries: ReadonlyMap<string, KeyEntry> = new Map()
  #profiles: ReadonlyMap<string, { readonly text: string; readonly profile: Profile }> = new Map()
  readonly #listeners: (() => void)[] = []

  /** `memory` holds the meters of the apps. */
  constructor(keys: Keys, memory: SharedArrayBuffer, groups: MethodGroups, now: () => number = Date.now) {
    this.#memory = memory
    this.#groups = groups
    this.#now = now
    this.replace(keys)
  }

  /** What has not changed stays the same object: who was let in with it need not be looked at again. */
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
        const before = this.#entries.get(placeOf(bytes))
        const isSame = before?.expiresAt === expiresAt && before.profile === profile && before.hash.equals(bytes)
        const entry = isSame ? before : keyEntry(bytes, expiresAt, profile)
        return [entry.place, entry]
      }),
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

  /** Who has a key is to come back later: keys cannot be judged now. */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  /** Undefined when the key is unknown, revoked or expired. */
  identify(key: string): KeyEntry | undefined {
    if (this.#isOpen) return anybody
    return isApiKey(key) ? this.#find(hashOf(key)) : undefined
  }

  /** Lets somebody with a good key in, or says why not: at once, unless a token has to be checked. */
  admit(key: KeyEntry, visitor: Visitor): Admission | Refusal | Promise<Admission | Refusal> {
    if (key.admission !== undefined || key.profile === undefined) return key.admission ?? 'key'
    const welcome = key.profile.admit(visitor)
    if (!(welcome instanceof Promise)) return admission(key, welcome, visitor)
    return welcome.then((one) => admission(key, one, visitor))
  }

  /** Whether who was let in is still, without looking again. */
  isGood({ key, expiresAt }: Admission): boolean {
    if (key === anybody) return this.#isOpen
    return this.#now() < expiresAt && this.#entries.get(key.place) === key
  }

  /** Looks again at who was let in once. Where he came from is not known if it did not matter: then he has to come again. */
  renew(admission: Admission): Admission | Refusal | Promise<Admission | Refusal> {
    if (this.isGood(admission)) return admission
    const { key, visitor } = admission
    const fresh = this.#isOpen ? anybody : this.#find(key.hash)
    if (fresh === undefined || visitor === undefined) return fresh?.admission ?? 'key'
    return this.admit(fresh, visitor)
  }

  /** The place is found by a part of the hash; whether the whole is equal is told in constant time, also where there is none. */
  #find(hash: Buffer): KeyEntry | undefined {
    const entry = this.#entries.get(placeOf(hash)) ?? nobody
    const isEqual = timingSafeEqual(hash, entry.hash)
    return isEqual && this.#now() < entry.expiresAt ? entry : undefined
  }
}

function keyEntry(hash: Buffer, expiresAt: number, profile: Profile | undefined): KeyEntry {
  const entry: { -readonly [name in keyof KeyEntry]: KeyEntry[name] } = {
    hash,
    place: placeOf(hash),
    expiresAt,
    profile,
    admission: undefined,
  }
  if (profile?.looksAtVisitors !== true) {
    entry.admission = { key: entry, caller: profile?.caller, expiresAt, visitor: undefined }
  }
  return entry
}

function admission(key: KeyEntry, welcome: Welcome | Refused, visitor: Visitor): Admission | Refusal {
  if (typeof welcome === 'string') return welcome
  return { key, caller: welcome.caller, expiresAt: Math.min(key.expiresAt, welcome.expiresAt), visitor }
}

function placeOf(hash: Buffer): string {
  return hash.toString('hex', 0, 8)
}
