import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '../auth/appError.ts'
import type { Policy, PolicyChange } from '../auth/policy.ts'
import { jwkOf, type TokenKeyInput } from '../auth/tokenKey.ts'
import { unknownMethods } from '../methods/entries.ts'

/** Value of a flag that removes a restriction. */
type None = 'none'

/** Parsed flags of a policy. */
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
    .option('--allow-contract <addresses>', 'addresses that requests may use, or none', listed)
    .option('--allow-method <names>', 'methods, or group_*, that may be called, or none', listed)
    .option('--rate <units>', 'compute units per second, or none', limit)
    .option('--burst <units>', 'compute units at once, or none (default: those of half a second)', limit)
    .option('--daily <units>', 'compute units per UTC day, or none', limit)
    .option('--monthly <units>', 'compute units per UTC month, or none', limit)
    .option('--concurrency <count>', 'requests in progress at a time, or none', limit)
    .option('--jwt-key <file[:kid]>', 'adds a public key (PEM or JWK) that verifies tokens', tokenKey)
    .option('--drop-jwt-key <kid>', 'removes such a key', collected)
    .option('--jwt-audience <text>', 'required audience of tokens, or none')
    .option('--jwt-issuer <text>', 'required issuer of tokens, or none')
    .option('--require-jwt', 'require a token in addition to the key')
    .option('--no-require-jwt', 'require no token')
}

/** Returns the change of a policy by the flags; `keys` are the token keys of the app. Throws AppError. */
export function policyChange(options: PolicyOptions, keys: Policy['jwt']['keys']): PolicyChange {
  const { allowSource: sources, allowOrigin: origins, allowContract: contracts, allowMethod: methods } = options
  const { rate: unitsPerSecond, burst, daily: dailyUnits, monthly: monthlyUnits, concurrency } = options
  const { jwtAudience: audience, jwtIssuer: issuer, requireJwt: isRequired } = options
  const [unknown] = unknownMethods(methods ?? [])
  if (unknown !== undefined) throw new AppError(`allow.methods: there is no method ${JSON.stringify(unknown)}`)
  return {
    allow: defined({ sources, origins, contracts, methods }),
    jwt: { ...defined({ isRequired, keys: changedKeys(options, keys) }), ...orNull({ audience, issuer }) },
    limits: orNull({ unitsPerSecond, burst, dailyUnits, monthlyUnits, concurrency }),
  }
}

/** Returns the changed token keys; undefined if no flag changes them. An added key replaces the key with the same kid. */
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

type Defined<T> = { [name in keyof T]?: Exclude<T[name], undefined> }

function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>
}

function orNull<T extends object>(members: T): { [name in keyof T]?: Exclude<T[name], undefined | None> | null } {
  const entries = Object.entries(defined(members)).map(([name, value]) => [name, value === 'none' ? null : value])
  return Object.fromEntries(entries)
}

/** Collects values that are separated by commas in one flag, or given in several flags. */
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

/** Reads a token key. Without a kid in the flag, the kid is that of the JWK, else the name of the file without extension. */
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
