import { AddressRanges } from '../config/addressRanges.ts'
import { AppCaller } from './appCaller.ts'
import type { MethodGroups } from './methodGroups.ts'
import { once } from './once.ts'
import type { Policy } from './policy.ts'
import { type Token, TokenVerifier } from './token.ts'

/** An app as the main thread sends it to the workers. */
export interface Access extends Pick<Policy, 'allow' | 'jwt' | 'limits'> {
  readonly name: string
  /** Index of its meter. */
  readonly meterIndex: number
  /** Compute units that may be spent at once; null if there is no rate limit. */
  readonly burst: number | null
}

/** Origin and credentials of a request, besides the key. */
export interface ClientInfo {
  /** The IP address, as `canonicalAddress` writes it. */
  readonly source: string
  /** The header `Origin`; empty if absent. */
  readonly origin: string
  /** The bearer token; empty if absent. */
  readonly token: string
}

/** Why the policy of an app refuses a request with a valid key. */
export type PolicyRefusal = 'source' | 'origin' | 'token'

/** An accepted request. */
export interface Authenticated {
  readonly caller: AppCaller
  /** When the token expires, in milliseconds since 1970; infinity without a token. */
  readonly expiresAt: number
}

/** The policy of an app, prepared for checking requests in a worker. */
export class Profile {
  /** Whether the policy checks source, origin or token. */
  readonly dependsOnClient: boolean
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
    this.dependsOnClient = sources.length > 0 || origins.length > 0 || jwt.isRequired
    this.#sources = once(() => (sources.length === 0 ? undefined : new AddressRanges(sources)))
    this.#origins = once(() => (origins.length === 0 ? undefined : new Set(origins)))
    this.#tokens = once(() => (jwt.isRequired ? new TokenVerifier(jwt, now) : undefined))
    this.caller = AppCaller.of(access, memory, groups)
  }

  /** Checks source, origin and token. Returns a promise only for a token that has not been verified before. */
  admit(client: ClientInfo): Authenticated | PolicyRefusal | Promise<Authenticated | PolicyRefusal> {
    const { source, origin, token } = client
    if (this.#sources()?.has(source) === false) return 'source'
    if (this.#origins()?.has(origin.toLowerCase()) === false) return 'origin'
    const tokens = this.#tokens()
    if (tokens === undefined) return { caller: this.caller, expiresAt: Number.POSITIVE_INFINITY }
    const known = tokens.recall(token)
    return known === undefined ? this.#verify(token, tokens) : this.#authenticated(known)
  }

  async #verify(text: string, tokens: TokenVerifier): Promise<Authenticated | PolicyRefusal> {
    const token = await tokens.verify(text)
    return token === undefined ? 'token' : this.#authenticated(token)
  }

  #authenticated(token: Token): Authenticated {
    const { methods, expiresAt } = token
    if (methods === undefined) return { caller: this.caller, expiresAt }
    const caller = this.#narrowed.get(token) ?? this.caller.narrowedTo(this.#groups.namesOf(methods))
    this.#narrowed.set(token, caller)
    return { caller, expiresAt }
  }
}
