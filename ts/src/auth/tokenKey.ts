import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { jsonIn } from '../rpc/jsonText.ts'
import { AppError } from './appError.ts'

/** A public key that verifies tokens (JWT). */
export const tokenKeySchema = Type.Object(
  {
    /** Id by which tokens name the key. */
    kid: Type.String({ pattern: '^[\\x20-\\x7e]{1,128}$' }),
    /** The only accepted algorithm. */
    alg: Type.Union([Type.Literal('RS256'), Type.Literal('ES256'), Type.Literal('EdDSA')]),
    /** SPKI as PEM. */
    publicKey: Type.String(),
  },
  { additionalProperties: false },
)

export type TokenKey = Static<typeof tokenKeySchema>

/** A public key as an operator enters it. */
export interface TokenKeyInput {
  /** Needed, unless a JWK contains it. */
  readonly kid?: string | undefined
  /** SPKI as PEM, or a JWK: as an object or as its text. */
  readonly publicKey: string | JsonWebKey
}

const leastRsaBits = 2048
const largestText = 20_000

/** Returns the key in canonical form. Throws AppError; its message never contains the input, which may be a private key. */
export function readTokenKey(input: TokenKeyInput, member: string): TokenKey {
  const jwk = jwkOf(input.publicKey)
  const key = jwk === undefined ? fromPem(String(input.publicKey), member) : fromJwk(jwk, member)
  const kid: unknown = input.kid ?? jwk?.kid
  if (typeof kid !== 'string' || !/^[\x20-\x7e]{1,128}$/.test(kid)) {
    throw new AppError(`${member}.kid: expected 1 to 128 printable characters`)
  }
  const alg = algorithmOf(key, member)
  if (jwk?.alg !== undefined && jwk.alg !== alg && !(alg === 'EdDSA' && jwk.alg === 'Ed25519')) {
    throw new AppError(`${member}.alg: such a key is used with ${alg} only`)
  }
  return { kid, alg, publicKey: key.export({ type: 'spki', format: 'pem' }).toString() }
}

/** Returns a JWK, given as an object or as its text; undefined for any other input. */
export function jwkOf(sent: string | JsonWebKey): (JsonWebKey & { readonly kid?: string }) | undefined {
  if (typeof sent !== 'string') return sent
  if (sent.length > largestText || !sent.trimStart().startsWith('{')) return undefined
  return jsonIn(sent) as JsonWebKey | undefined
}

function fromPem(text: string, member: string): KeyObject {
  if (text.includes('PRIVATE KEY')) throw isPrivate(member)
  if (text.length > largestText || !/^\s*-----BEGIN PUBLIC KEY-----/.test(text)) throw unreadable(member)
  try {
    return createPublicKey({ key: text, format: 'pem' })
  } catch {
    throw unreadable(member)
  }
}

function fromJwk(jwk: JsonWebKey, member: string): KeyObject {
  if ('d' in jwk || 'p' in jwk || 'k' in jwk) throw isPrivate(member)
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    throw unreadable(member)
  }
}

function algorithmOf(key: KeyObject, member: string): TokenKey['alg'] {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return 'EdDSA'
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256'
  if (type === 'rsa') {
    if ((details?.modulusLength ?? 0) >= leastRsaBits) return 'RS256'
    throw new AppError(`${member}.publicKey: expected an RSA key of at least ${leastRsaBits} bits`)
  }
  throw new AppError(`${member}.publicKey: expected an RSA, P-256 or Ed25519 key`)
}

function isPrivate(member: string): AppError {
  return new AppError(`${member}.publicKey: is secret; give the public key`)
}

function unreadable(member: string): AppError {
  return new AppError(`${member}.publicKey: expected a public key as PEM (SPKI) or as JWK`)
}
