import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '../auth/appError.ts'
import type { Policy, PolicyChange } from '../auth/policy.ts'
import { jwkOf, type TokenKeyInput } from '../auth/tokenKey.ts'
import { unknownMethods } from '../methods/entries.ts'

/** Takes a restriction away. */
type None = 'none'

/** What the flags of a policy are read into. */
export interface PolicyOptions {
  readonly allowSource?: string[]
  readonly allowOrigin?: string[]
  readonly allowContract?: string[]
  readonly allowMethod?: string[]
  readonly rate?: number | None
  readonly burst?: number | None
  readonly daily?: number | None
  readonly monthly?: number | None
  readonly concurrency?: number | None
  readonly jwtKey?: TokenKeyInput[]
  readonly dropJwtKey?: string[]
  readonly jwtAudience?: string
  readonly jwtIssuer?: string
  readonly requireJwt?: boolean
}

export function addPolicyOptions(command: Command): Command {
  return command
    .option('--allow-source <addresses>', 'IP addresses or CIDR ranges that may call, or none', listed)
    .option('--allow-origin <origins>', 'origins of web pages that may call, or none', listed)
    .option('--allow-contract <addresses>', 'addresses that requests may name, or none', listed)
    .option('--allow-method <names>', 'methods, or group_*, that may be called, or none', listed)
    .option('--rate <units>', 'compute units a second, or none', limit)
    .option('--burst <units>', 'compute units at once, or none (default: those of half a second)', limit)
    .option('--daily <units>', 'compute units a UTC day, or none', limit)
    .option('--monthly <units>', 'compute units a UTC month, or none', limit)
    .option('--concurrency <count>', 'requests that are worked on at a time, or none', limit)
    .option('--jwt-key <file[:kid]>', 'adds a public key (PEM or JWK) that tokens are checked with', tokenKey)
    .option('--drop-jwt-key <kid>', 'takes such a key away', collected)
    .option('--jwt-audience <text>', 'what tokens must be for, or none')
    .option('--jwt-issuer <text>', 'who tokens must be from, or none')
    .option('--require-jwt', 'ask for a token besides the key')
    .option('--no-require-jwt', 'ask for no token')
}

/** The change that the flags mean for an app with these keys for tokens. Throws AppError. */
export function policyChange(options: PolicyOptions, keys: Policy['jwt']['keys']): PolicyChange {
  const { allowSource: sources, allowOrigin: origins, allowContract: contracts, allowMethod: methods } = options
  const { rate: unitsPerSecond, burst, daily: dailyUnits, monthly: monthlyUnits, concurrency } = options
  const { jwtAudience: audience, jwtIssuer: issuer, requireJwt: isRequired } = options
  const [unknown] = unknownMethods(methods ?? [])
  if (unknown !== undefined) throw new AppError(`allow.methods: there is no method ${JSON.stringify(unknown)}`)
  return {
    allow: given({ sources, origins, contracts, methods }),
    jwt: { ...given({ isRequired, keys: changedKeys(options, keys) }), ...orNull({ audience, issuer }) },
    limits: orNull({ unitsPerSecond, burst, dailyUnits, monthlyUnits, concurrency }),
  }
}

/** A key that is added takes the place of the one with its kid. */
function changedKeys({ jwtKey = [], dropJwtKey = [] }: PolicyOptions, keys: Policy['jwt']['keys']) {
  for (const kid of dropJwtKey) {
    if (!keys.some((key) => key.kid === kid))
      throw new AppError(`jwt.keys: there is none with the kid ${JSON.stringify(kid)}`)
  }
  if (jwtKey.length + dropJwtKey.length === 0) return undefined
  const added = jwtKey.map(({ kid }) => kid)
  const kept = keys.filter(({ kid }) => !added.includes(kid) && !dropJwtKey.includes(kid))
  return [...kept, ...jwtKey]
}

type Given<T> = { [name in keyof T]?: Exclude<T[name], undefined> }

function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>
}

function orNull<T extends object>(members: T): { [name in keyof T]?: Exclude<T[name], undefined | None> | null } {
  const entries = Object.entries(given(members)).map(([name, value]) => [name, value === 'none' ? null : value])
  return Object.fromEntries(entries)
}

/** Several in one flag with commas between, or in several flags. */
function listed(text: string, before: string[] = []): string[] {
  return text === 'none' ? [] : [...before, ...text.split(',').map((one) => one.trim())]
}

function collected(text: string, before: string[] = []): string[] {
  return [...before, text]
}

function limit(text: string): number | None {
  if (text === 'none') return text
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number or none.')
}

/** Without a kid: the one that a JWK says, else the name of the file without its ending. */
function tokenKey(text: string, before: TokenKeyInput[] = []): TokenKeyInput[] {
  const colon = text.lastIndexOf(':')
  const isNamed = colon > 0 && !existsSync(text)
  const path = isNamed ? text.slice(0, colon) : text
  let publicKey: string
  try {
    publicKey = readFileSync(path, 'utf8')
  } catch (error) {
    throw new InvalidArgumentError(`The file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)
  }
  if (isNamed) return [...before, { kid: text.slice(colon + 1), publicKey }]
  return [...before, { kid: jwkOf(publicKey)?.kid ?? basename(path).replace(/\.[^.]*$/, ''), publicKey }]
}
