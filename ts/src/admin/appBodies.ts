import type { JsonWebKey } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { appMembers } from '../auth/app.ts'

// Schemas of request bodies about apps. `expects` is the error text for an invalid value. Only the form is checked here;
// `auth/policy.ts` checks the values of a policy.

const closed = { additionalProperties: false }
const { name, description, useCase } = appMembers
const line = 'one line of at most 200 characters'

const orNull = (words: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Null()], { expects: `${words}, or null for any` }))
const texts = (words: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 1000, expects: `a list of ${words}` }))
const limit = () =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      expects: 'a whole number of at least 1, or null for none',
    }),
  )
const section = <T extends Parameters<typeof Type.Object>[0]>(members: T) =>
  Type.Optional(Type.Object(members, { ...closed, expects: 'an object' }))

const described = {
  description: Type.Optional({ ...description, expects: line }),
  useCase: Type.Optional({ ...useCase, expects: line }),
  allow: section({
    sources: texts('IP addresses and CIDR ranges'),
    origins: texts('origins'),
    contracts: texts('addresses'),
    methods: texts('methods and groups'),
  }),
  limits: section({
    unitsPerSecond: limit(),
    burst: limit(),
    dailyUnits: limit(),
    monthlyUnits: limit(),
    concurrency: limit(),
  }),
  jwt: section({
    isRequired: Type.Optional(Type.Boolean({ expects: 'true or false' })),
    audience: orNull('a text'),
    issuer: orNull('a text'),
    keys: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kid: Type.Optional(Type.String({ expects: 'a text' })),
            publicKey: Type.Unsafe<string | JsonWebKey>(
              Type.Union([Type.String(), Type.Object({})], { expects: 'a public key as PEM text or as JWK' }),
            ),
          },
          { ...closed, expects: 'an object with kid and publicKey' },
        ),
        { expects: 'a list of keys' },
      ),
    ),
  }),
}

const expiry = {
  expiresAt: Type.Optional(
    Type.Union(
      [Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T[\\d:.]{5,15}(Z|[+-]\\d{2}:\\d{2}))?$' }), Type.Null()],
      {
        expects: 'a time, e.g. 2030-12-31 or 2030-12-31T12:00:00Z, or null',
      },
    ),
  ),
}

export const newApp = Compile(
  Type.Object(
    {
      name: { ...name, expects: 'up to 64 letters, digits, dots, dashes and underscores, the first a letter or digit' },
      ...described,
      ...expiry,
    },
    closed,
  ),
)

export const editedApp = Compile(Type.Object(described, closed))

export const rotation = Compile(
  Type.Object(
    {
      keepSeconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 99_999_999, expects: 'a whole number of seconds below 100,000,000' }),
      ),
      ...expiry,
    },
    closed,
  ),
)
