import { type Static, Type } from 'typebox'
import { AppError } from './appError.ts'
import { readSource } from './sources.ts'
import { readTokenKey, type TokenKeyInput, tokenKeySchema } from './tokenKey.ts'

// The policy of an app. An empty list, and null for a limit, restrict nothing.

const closed = { additionalProperties: false }
const limit = () => Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])
const texts = () => Type.Array(Type.String())
const textOrNull = () => Type.Union([Type.String(), Type.Null()])

export const policyMembers = {
  allow: Type.Object(
    {
      /** Allowed source addresses and ranges. */
      sources: texts(),
      /** Allowed origins of web pages, e.g. `https://app.example.org`. With a list, a request without an origin is refused, too. */
      origins: texts(),
      /** Allowed contracts and accounts, `0x` and 40 lower case digits. */
      contracts: texts(),
      /** Allowed methods, or `eth_*` for a whole group. */
      methods: texts(),
    },
    closed,
  ),
  jwt: Type.Object(
    {
      isRequired: Type.Boolean(),
      /** Required claims `aud` and `iss` of tokens; null: not checked. */
      audience: textOrNull(),
      issuer: textOrNull(),
      keys: Type.Array(tokenKeySchema),
    },
    closed,
  ),
  limits: Type.Object(
    {
      /** Compute units. */
      unitsPerSecond: limit(),
      /** Compute units that may be spent at once; null: those of half a second. */
      burst: limit(),
      /** Compute units of a UTC day and of a UTC month. */
      dailyUnits: limit(),
      monthlyUnits: limit(),
      /** HTTP requests and WebSocket messages in progress at one node. */
      concurrency: limit(),
    },
    closed,
  ),
}

const policySchema = Type.Object(policyMembers)
export type Policy = Static<typeof policySchema>

/** A policy without restrictions. */
export const noPolicy: Policy = {
  allow: { sources: [], origins: [], contracts: [], methods: [] },
  jwt: { isRequired: false, audience: null, issuer: null, keys: [] },
  limits: { unitsPerSecond: null, burst: null, dailyUnits: null, monthlyUnits: null, concurrency: null },
}

/** Change of a policy. A list replaces the whole list; absent members stay as they are. */
export interface PolicyChange {
  readonly allow?: Partial<Readonly<Record<keyof Policy['allow'], readonly string[]>>>
  readonly jwt?: {
    readonly isRequired?: boolean
    readonly audience?: string | null
    readonly issuer?: string | null
    readonly keys?: readonly TokenKeyInput[]
  }
  readonly limits?: Partial<Policy['limits']>
}

const maxEntries = 1000
const maxKeys = 20
const largestLimit = {
  unitsPerSecond: 100_000_000,
  burst: 1_000_000_000,
  dailyUnits: Number.MAX_SAFE_INTEGER,
  monthlyUnits: Number.MAX_SAFE_INTEGER,
  concurrency: 1_000_000,
}

/** Returns the changed policy in canonical form. Throws AppError with the invalid member. */
export function changedPolicy(before: Policy, change: PolicyChange): Policy {
  const { allow = {}, jwt = {}, limits = {} } = change
  const changed = {
    allow: {
      sources: readList('sources', allow.sources ?? before.allow.sources, 'an IP address or a CIDR range', readSource),
      origins: readList('origins', allow.origins ?? before.allow.origins, 'an origin as browsers send it', readOrigin),
      contracts: readList('contracts', allow.contracts ?? before.allow.contracts, '0x and 40 hex digits', readContract),
      methods: readList('methods', allow.methods ?? before.allow.methods, 'a method or group_*', readMethod),
    },
    jwt: {
      isRequired: jwt.isRequired ?? before.jwt.isRequired,
      audience: readClaim('audience', jwt.audience === undefined ? before.jwt.audience : jwt.audience),
      issuer: readClaim('issuer', jwt.issuer === undefined ? before.jwt.issuer : jwt.issuer),
      keys: readKeys(jwt.keys ?? before.jwt.keys),
    },
    limits: readLimits({ ...before.limits, ...withoutAbsent(limits) }),
  }
  if (changed.jwt.isRequired && changed.jwt.keys.length === 0) {
    throw new AppError('jwt.isRequired: there is no key to check tokens with')
  }
  return changed
}

function readList(
  name: string,
  entries: readonly string[],
  expected: string,
  read: (text: string) => string | undefined,
): string[] {
  const member = `allow.${name}`
  if (entries.length > maxEntries) throw new AppError(`${member}: expected at most ${maxEntries} entries`)
  const values = entries.map((entry, index) => {
    const value = read(entry)
    if (value !== undefined) return value
    throw new AppError(`${member}[${index}]: ${JSON.stringify(entry.slice(0, 80))} is not ${expected}`)
  })
  return [...new Set(values)]
}

function readOrigin(text: string): string | undefined {
  const lower = text.trim().toLowerCase().replace(/\/$/, '')
  if (!URL.canParse(lower)) return undefined
  const { origin, protocol } = new URL(lower)
  // `URL` has no origin for other schemes, e.g. of browser extensions.
  if (protocol !== 'http:' && protocol !== 'https:') return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.exec(lower)?.[0]
  return origin === lower || `${origin}:${protocol === 'http:' ? 80 : 443}` === lower ? origin : undefined
}

function readContract(text: string): string | undefined {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : undefined
}

/** Reads the name of a method, or `group_*`. */
export function readMethod(text: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9]{0,31}(_\*|[._][A-Za-z0-9_]{1,64})$/.test(text) ? text : undefined
}

function readClaim(name: string, text: string | null): string | null {
  if (text === null || /^[^\p{Cc}]{1,200}$/u.test(text)) return text
  throw new AppError(`jwt.${name}: expected one line of 1 to 200 characters`)
}

function readKeys(inputs: readonly TokenKeyInput[]): Policy['jwt']['keys'] {
  if (inputs.length > maxKeys) throw new AppError(`jwt.keys: expected at most ${maxKeys}`)
  const keys = inputs.map((input, index) => readTokenKey(input, `jwt.keys[${index}]`))
  const names = keys.map(({ kid }) => kid)
  const twice = names.find((kid, index) => names.indexOf(kid) !== index)
  if (twice !== undefined) throw new AppError(`jwt.keys: two have the kid ${JSON.stringify(twice)}`)
  return keys
}

function readLimits(limits: Policy['limits']): Policy['limits'] {
  for (const [name, most] of Object.entries(largestLimit)) {
    const value = limits[name as keyof Policy['limits']]
    if (value !== null && !(Number.isSafeInteger(value) && value >= 1 && value <= most)) {
      throw new AppError(`limits.${name}: expected a whole number from 1 to ${most}, or none`)
    }
  }
  if (limits.burst !== null && limits.unitsPerSecond === null) {
    throw new AppError('limits.burst: has no meaning without limits.unitsPerSecond')
  }
  return limits
}

function withoutAbsent(limits: Partial<Policy['limits']>): Partial<Policy['limits']> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
