import { AddressRanges } from '../config/addressRanges.ts'
import { AppCaller } from './appCaller.ts'
import type { MethodGroups } from './methodGroups.ts'
import { once } from './once.ts'
import type { Policy } from './policy.ts'
import { type Token, TokenVerifier } from './token.ts'

/** What the main thread tells the workers of an app. */
export interface Access extends Pick<Policy, 'allow' | 'jwt' | 'limits'> {
  readonly name: string
  /** Where its meter is. */
  readonly place: number
  /** Compute units that may be spent at once; null without a rate. */
  readonly burst: number | null
}

/** Where a request comes from and what it carries, besides the key. */
export interface Visitor {
  /** The IP address, as `canonicalAddress` writes it. */
  readonly source: string
  /** The header; empty without. */
  readonly origin: string
  /** Empty without. */
  readonly token: string
}

/** Why somebody with a good key is not let in. */
export type Refused = 'source' | 'origin' | 'token'

/** Who was let in, and until when at most (milliseconds since 1970). */
export interface Welcome {
  readonly caller: AppCaller
  readonly expiresAt: number
}

/** An app as a worker sees it: its policy, ready to be asked. */
export class Profile {
  /** Whether it matters where a request comes from and what it carries. */
  readonly looksAtVisitors: boolean
  readonly caller: AppCaller
  readonly #sources: () => AddressRanges | undefined
  readonly #origins: () => ReadonlySet<string> | undefined
  readonly #tokens: () => TokenVerifier | undefined
  readonly #groups: MethodGroups
  readonly #narrowed = new WeakMap<Token, AppCaller>()

  constructor(access: Access, memory: SharedArrayBuffer, groups: MethodGroups, now: () => number) {
    const { allow, jwt } = access
    this.#groups = groups
    const { sources, origins } = allow
    this.looksAtVisitors = sources.length > 0 || origins.length > 0 || jwt.isRequired
    this.#sources = once(() => (sources.length === 0 ? undefined : new AddressRanges(sources)))
    this.#origins = once(() => (origins.length === 0 ? undefined : new Set(origins)))
    this.#tokens = once(() => (jwt.isRequired ? new TokenVerifier(jwt, now) : undefined))
    this.caller = AppCaller.of(access, memory, groups)
  }

  /** Lets a visitor in or says why not: at once, unless he brings a token that was not seen before. */
  admit(visitor: Visitor): Welcome | Refused | Promise<Welcome | Refused> {
    const { source, origin, token } = visitor
    if (this.#sources()?.has(source) === false) return 'source'
    if (this.#origins()?.has(origin.toLowerCase()) === false) return 'origin'
    const tokens = this.#tokens()
    if (tokens === undefined) return { caller: this.caller, expiresAt: Number.POSITIVE_INFINITY }
    const known = tokens.recall(token)
    return known === undefined ? this.#verify(token, tokens) : this.#welcome(known)
  }

  async #verify(text: string, tokens: TokenVerifier): Promise<Welcome | Refused> {
    const token = await tokens.verify(text)
    return token === undefined ? 'token' : this.#welcome(token)
  }

  #welcome(token: Token): Welcome {
    const { methods, expiresAt } = token
    if (methods === undefined) return { caller: this.caller, expiresAt }
    const caller = this.#narrowed.get(token) ?? this.caller.narrowedTo(this.#groups.namesOf(methods))
    this.#narrowed.set(token, caller)
    return { caller, expiresAt }
  }
}
