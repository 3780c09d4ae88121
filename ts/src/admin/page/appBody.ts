import type { AppView } from '../shapes.ts'
import type { Field, Values } from './form.ts'

// Form fields of the policy of an app, and the request body built from them.

type Limits = AppView['limits']
type Allow = AppView['allow']

const limits: readonly (readonly [keyof Limits, string, string])[] = [
  ['unitsPerSecond', 'Units per second', 'Compute units: most methods cost 1, heavy ones more.'],
  ['burst', 'Burst', 'Units that may be spent at once. Empty: those of half a second.'],
  ['dailyUnits', 'Units per day', 'Days are those of UTC.'],
  ['monthlyUnits', 'Units per month', ''],
  ['concurrency', 'Requests at a time', 'HTTP requests and WebSocket messages in progress.'],
]

const lists: readonly (readonly [keyof Allow, string, string])[] = [
  ['sources', 'Addresses', 'IP addresses or ranges, one per line: 203.0.113.7, 10.0.0.0/8.'],
  [
    'origins',
    'Origins of web pages',
    'One per line: https://app.example.org. Requests without an origin are then refused.',
  ],
  ['contracts', 'Contracts', 'Addresses that may be called, one per line.'],
  ['methods', 'Methods', 'One per line; eth_* is a whole group.'],
]

/** Returns the fields of a policy. An empty field restricts nothing. */
export function policyFields(app?: AppView): Field[] {
  const jwt = app?.jwt
  return [
    ...limits.map(([name, label, hint]): Field => {
      const value = app?.limits[name]?.toString() ?? ''
      return { name: `limits.${name}`, label, kind: 'number', value, group: 'Limits', ...(hint !== '' && { hint }) }
    }),
    ...lists.map(([name, label, hint]): Field => {
      const value = app?.allow[name].join('\n') ?? ''
      return { name: `allow.${name}`, label, kind: 'lines', value, hint, group: 'Allow lists' }
    }),
    {
      name: 'jwt.isRequired',
      label: 'A token in addition to the key',
      kind: 'choice',
      value: jwt?.isRequired === true ? 'yes' : '',
      options: [
        ['', 'is not required'],
        ['yes', 'is required with every request'],
      ],
      group: 'Tokens (JWT)',
    },
    { name: 'jwt.audience', label: 'Audience', kind: 'text', value: jwt?.audience ?? '', group: 'Tokens (JWT)' },
    { name: 'jwt.issuer', label: 'Issuer', kind: 'text', value: jwt?.issuer ?? '', group: 'Tokens (JWT)' },
    ...(jwt === undefined || jwt.keys.length === 0
      ? []
      : [
          {
            name: 'kept',
            label: 'Keys in use',
            kind: 'lines',
            value: jwt.keys.map(({ kid }) => kid).join('\n'),
            hint: 'Key ids. Delete a line to remove that key.',
            group: 'Tokens (JWT)',
          } as const,
        ]),
    { name: 'newKid', label: 'Add a key: its id', kind: 'text', group: 'Tokens (JWT)' },
    {
      name: 'jwt.keys',
      label: 'Add a key: the public key',
      kind: 'lines',
      hint: 'PEM or JWK: RSA from 2048 bits, P-256 or Ed25519.',
      group: 'Tokens (JWT)',
    },
  ]
}

/** Returns the body of a creation or an edit. Invalid values are sent unchanged, because the node reports the problem. */
export function bodyOf(values: Values, before?: AppView): object {
  const { description = '', useCase = '', newKid = '', kept = '' } = values
  const text = (name: string) => values[name] ?? ''
  const keptKids = lines(kept)
  const added = text('jwt.keys')
  return {
    description,
    useCase,
    limits: Object.fromEntries(limits.map(([name]) => [name, wholeNumber(text(`limits.${name}`))])),
    allow: Object.fromEntries(lists.map(([name]) => [name, lines(text(`allow.${name}`))])),
    jwt: {
      isRequired: text('jwt.isRequired') === 'yes',
      audience: text('jwt.audience') || null,
      issuer: text('jwt.issuer') || null,
      keys: [
        ...(before?.jwt.keys ?? [])
          .filter(({ kid }) => keptKids.includes(kid))
          .map(({ kid, publicKey }) => ({ kid, publicKey })),
        ...(added === '' && newKid === '' ? [] : [{ ...(newKid !== '' && { kid: newKid }), publicKey: added }]),
      ],
    },
  }
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function wholeNumber(text: string): number | string | null {
  if (text === '') return null
  const plain = text.replaceAll(/[ ,_']/g, '')
  return /^\d+$/.test(plain) ? Number(plain) : text
}
