import { Type } from 'typebox'
import { methodNotAllowed } from '../errors.ts'
import { type Kind, quoted, refuse, shortened } from '../kind.ts'
import { address } from './address.ts'
import { topic } from './hash.ts'
import { checkKept, type LogCriteria, parsedToKeep, readCriteria } from './logFilter.ts'

const contents = ['blocks', 'transactions', 'receipts', 'logs', 'traces', 'state'] as const

type Content = (typeof contents)[number]

/** Change feed that a client asks for. */
export interface FeedOptions {
  /** A cursor, the number of the first block in decimal, `earliest`, or `latest`: only later changes. */
  readonly from: string
  /** Contents of the events. */
  readonly what: readonly Content[]
  /** Addresses and topics of the logs. */
  readonly criteria: LogCriteria
}

/** First parameter of rhizome_subscribe. */
export const feedKind: Kind<'feed'> = {
  name: 'kind',
  expects: 'feed',
  schema: Type.Enum(['feed']),
  read(value) {
    return value === 'feed' ? value : refuse(this, `Invalid subscription ${shortened(quoted(value))}`)
  },
}

const from = {
  name: 'from',
  expects: 'a cursor (NUMBER-HASH-STEPS), a block number in decimal, earliest or latest',
}
const what = { name: 'what', expects: `a list of ${contents.join(', ')}` }

/** Second parameter of rhizome_subscribe. */
export const feedOptions: Kind<FeedOptions> = {
  name: 'options',
  expects: 'an object with from, what, address, topics',
  schema: Type.Object({
    from: Type.Optional(Type.String()),
    what: Type.Optional(Type.Array(Type.Enum([...contents]))),
    address: Type.Optional(Type.Union([address.schema, Type.Array(address.schema)])),
    topics: Type.Optional(Type.Array(Type.Union([Type.Null(), topic.schema, Type.Array(topic.schema)]))),
  }),
  read(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(this, 'Invalid options')
    return readFeed(value as Record<string, unknown>)
  },
  readLarge(text) {
    return this.read(parsedToKeep(text))
  },
}

/** Reads the members of the options. Without them a feed begins at the head and has blocks. */
export function readFeed(members: Record<string, unknown>): FeedOptions {
  const wanted = readWhat(members.what ?? ['blocks'])
  const criteria = readCriteria('options', members)
  checkKept(criteria)
  if (!wanted.includes('logs') && Object.keys(criteria).length > 0)
    refuse({ ...what, expects: 'logs in what' }, 'Invalid options: address and topics select logs')
  return { from: readFrom(members.from ?? 'latest'), what: wanted, criteria }
}

function readFrom(value: unknown): string {
  // The longest cursor has 107 characters.
  if (typeof value === 'string' && value.length > 0 && value.length <= 128) return value
  return refuse(from, 'Invalid from')
}

function readWhat(value: unknown): readonly Content[] {
  const isContent = (one: unknown): one is Content => (contents as readonly unknown[]).includes(one)
  if (!Array.isArray(value) || value.length === 0 || value.length > contents.length) return refuse(what, 'Invalid what')
  const unknown = value.find((one) => !isContent(one))
  if (unknown !== undefined || !value.every(isContent))
    return refuse(what, `Invalid what: ${shortened(quoted(unknown))} is unknown`)
  return value
}

/** Method whose permission a feed needs, also over HTTP. */
export const feedMethod = 'rhizome_subscribe'

/** Returns the methods whose permissions a feed needs, among them the methods that answer with the same executions. */
export function feedMethods({ what: wanted }: FeedOptions): readonly string[] {
  return [
    feedMethod,
    ...(wanted.includes('traces') ? ['trace_block'] : []),
    ...(wanted.includes('state') ? ['debug_traceBlockByHash'] : []),
  ]
}

/** Whether blocks are executed for a feed. */
export function isExecuted(options: FeedOptions): boolean {
  return feedMethods(options).length > 1
}

/** Throws RpcError unless an address serves the methods of a feed. */
export function checkServed(options: FeedOptions, serves: (method: string) => boolean): void {
  const missing = feedMethods(options).find((method) => !serves(method))
  if (missing !== undefined) throw methodNotAllowed(missing)
}

/** Returns the addresses that events of a feed may name; null: any address. */
export function feedAddresses({ what: wanted, criteria }: FeedOptions): readonly (string | null)[] {
  const hasLogsOnly = wanted.every((one) => one === 'logs')
  return hasLogsOnly && criteria.address !== undefined ? criteria.address : [null]
}

/** Returns the contents of a feed as the core reads them. */
export function feedContent({ what: wanted, criteria }: FeedOptions): string {
  return JSON.stringify({ what: wanted, ...criteria })
}
