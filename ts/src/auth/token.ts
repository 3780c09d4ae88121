import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import type { Policy } from './policy.ts'
import { readMethod } from './policy.ts'
import type { TokenKey } from './tokenKey.ts'

/** Claims of a valid token. */
export interface Token {
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Allowed methods, or `eth_*`. Undefined: those of the app. */
  readonly methods: readonly string[] | undefined
}

/** Accepted difference between the clocks of the issuer and this machine. */
const toleranceSeconds = 60
/** The last second that a `Date` can represent. */
const latestSeconds = 8_640_000_000_000
const maxRemembered = 10_000
const longestToken = 8192

/** Verifies the tokens (JWT) of one app. Each key is used with its own algorithm only, whatever a token says. */
export class TokenVerifier {
  readonly #settings: Policy['jwt']
  readonly #keys: ReadonlyMap<string, { readonly alg: TokenKey['alg']; readonly key: KeyObject }>
  readonly #now: () => number
  /** Verified tokens that have not expired, by their hash. */
  readonly #known = new Map<string, Token>()

  constructor(settings: Policy['jwt'], now: () => number = Date.now) {
    this.#settings = settings
    this.#keys = new Map(
      settings.keys.map(({ kid, alg, publicKey }) => [kid, { alg, key: createPublicKey(publicKey) }]),
    )
    this.#now = now
  }

  /** Returns the claims of a token that was verified before; undefined for any other. */
  recall(text: string): Token | undefined {
    const token = this.#known.get(hashOf(text))
    return token !== undefined && this.#now() < token.expiresAt ? token : undefined
  }

  /** Verifies a token. Returns its claims, or undefined if it is invalid. */
  async verify(text: string): Promise<Token | undefined> {
    if (text === '' || text.length > longestToken) return undefined
    try {
      const { kid } = decodeProtectedHeader(text)
      const chosen = this.#choose(kid)
      if (chosen === undefined) return undefined
      const { audience, issuer } = this.#settings
      const { payload } = await jwtVerify(text, chosen.key, {
        algorithms: chosen.alg === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [chosen.alg],
        requiredClaims: ['exp'],
        clockTolerance: toleranceSeconds,
        currentDate: new Date(this.#now()),
        ...(audience === null ? {} : { audience }),
        ...(issuer === null ? {} : { issuer }),
      })
      const { exp = 0, nbf = 0, methods } = payload
      // A number in JSON may be beyond every date, and 1e400 is read as infinity.
      if (Math.abs(exp) > latestSeconds || Math.abs(nbf) > latestSeconds) return undefined
      if (methods !== undefined && !isMethodList(methods)) return undefined
      return this.#remember(text, { expiresAt: (exp + toleranceSeconds) * 1000, methods })
    } catch {
      // Every error means an invalid token. The reason is not sent to the caller.
      return undefined
    }
  }

  /** Chooses the key that a token names. With a single key, the token need not name it. */
  #choose(kid: unknown) {
    if (typeof kid === 'string') return this.#keys.get(kid)
    return kid === undefined && this.#keys.size === 1 ? [...this.#keys.values()][0] : undefined
  }

  #remember(text: string, token: Token): Token {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= maxRemembered && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(hashOf(text), token)
    return token
  }
}

function isMethodList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && readMethod(one) !== undefined)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
