import { Type } from 'typebox'
import { invalidParams, type RpcError } from '../errors.ts'
import { type Kind, memberText, objectText, readMember, refuseLate } from '../kind.ts'
import type { LargeText } from '../largeText.ts'
import { address } from './address.ts'
import { numberedBlock } from './block.ts'
import { blockHash, topic } from './hash.ts'

/** Criteria of logs. */
export interface LogCriteria {
  /** Matches any of these; absent: all addresses. */
  readonly address?: readonly string[]
  /** By position: null matches any topic, a list any of its topics. */
  readonly topics?: readonly (readonly string[] | null)[]
}

/** Criteria and range of a log search, members in canonical form. */
export interface LogFilter extends LogCriteria {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

const fromBlock = { ...numberedBlock, name: 'fromBlock' }
const toBlock = { ...numberedBlock, name: 'toBlock' }
const oneTopic = { ...topic, name: 'topics' }

const schema = Type.Object({
  fromBlock: Type.Optional(fromBlock.schema),
  toBlock: Type.Optional(toBlock.schema),
  blockHash: Type.Optional(blockHash.schema),
  address: Type.Optional(Type.Union([address.schema, Type.Array(address.schema)])),
  topics: Type.Optional(Type.Array(Type.Union([Type.Null(), topic.schema, Type.Array(topic.schema)]))),
})

/** Parameter of eth_newFilter. */
export const logFilter: Kind<LogFilter> = {
  name: 'filter',
  expects: 'an object with fromBlock, toBlock or blockHash, address, topics',
  schema,
  read(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuseLate(this, 'Invalid filter object', 'only here')
    const members = value as Record<string, unknown>
    // Members in the order of the reference, then their combination.
    const filter: Writable<LogFilter> = {}
    if (members.fromBlock !== undefined) filter.fromBlock = readBound(fromBlock, members.fromBlock)
    if (members.toBlock !== undefined) filter.toBlock = readBound(toBlock, members.toBlock)
    const addresses = readAddresses('filter', members.address)
    if (addresses !== undefined) filter.address = addresses
    if (members.blockHash !== undefined) {
      filter.blockHash = readMember('filter', blockHash, memberText(members.blockHash))
    }
    const topics = readTopics('filter', members.topics)
    if (topics !== undefined) filter.topics = topics
    checkPlace(filter)
    return filter
  },
  readLarge(text) {
    return this.read(parsedToKeep(text))
  },
}

/** Parameter of eth_getLogs. `crates/answers/src/log_filter.rs` reads it. */
export const searchFilter = objectText(logFilter.name, logFilter.expects, schema)

/** Reads the members `address` and `topics` of an object parameter called `owner`. */
export function readCriteria(owner: string, members: Record<string, unknown>): LogCriteria {
  const criteria: Writable<LogCriteria> = {}
  const addresses = readAddresses(owner, members.address)
  if (addresses !== undefined) criteria.address = addresses
  const topics = readTopics(owner, members.topics)
  if (topics !== undefined) criteria.topics = topics
  return criteria
}

/** Maximum size of the addresses and topics of an installed filter or a subscription, as JSON. */
const maxKeptBytes = 131_072
/** Maximum size of the other members of a filter. */
const otherBytes = 1024

/** Throws if criteria are too large for an installed filter. A search may have larger ones. */
export function checkKept({ address: addresses, topics }: LogCriteria): void {
  const size = JSON.stringify([addresses, topics]).length
  if (size > maxKeptBytes) throw tooLargeToKeep(size)
}

/** Parses the text of an installed filter. Throws if it is too large. */
export function parsedToKeep(text: LargeText): unknown {
  if (text.length > maxKeptBytes + otherBytes) throw tooLargeToKeep(text.length)
  return JSON.parse(text.bytes.toString())
}

function tooLargeToKeep(size: number): RpcError {
  const hint = `expected at most ${maxKeptBytes} bytes of addresses and topics, got ${size}`
  return invalidParams('Too many addresses and topics', hint)
}

function readBound(kind: Kind<string>, value: unknown): string {
  if (isDepthTag(value)) return value
  return readMember('filter', kind, memberText(value))
}

/** Throws for a block hash with a range, and for a reversed range. */
function checkPlace({ fromBlock: from, toBlock: to, blockHash: hash }: LogFilter): void {
  if (hash !== undefined && (from !== undefined || to !== undefined)) {
    throw invalidParams('Cannot specify both blockHash and fromBlock/toBlock')
  }
  const isFromHead = from === 'latest' || from === 'pending'
  const isReversed = isNumber(from) && isNumber(to) && BigInt(from) > BigInt(to)
  if ((isFromHead && to === 'earliest') || isReversed) throw invalidParams('fromBlock cannot be greater than toBlock')
}

function readAddresses(owner: string, value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return [readMember(owner, address, memberText(value))]
  const addresses = value.map((one) => readMember(owner, address, memberText(one)))
  return addresses.length === 0 ? undefined : addresses
}

function readTopics(owner: string, value: unknown): (string[] | null)[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return [[readMember(owner, oneTopic, memberText(value))]]
  const positions = value.map((position): string[] | null => {
    if (position === null) return null
    if (!Array.isArray(position)) return [readMember(owner, oneTopic, memberText(position))]
    // Null among alternatives is dropped: [A, null] means A.
    const choices = position.filter((one) => one !== null).map((one) => readMember(owner, oneTopic, memberText(one)))
    return choices.length === 0 ? null : choices
  })
  return positions.length === 0 ? undefined : positions
}

/** Returns whether a bound is a tag of a block below the head. */
export function isDepthTag(bound: unknown): bound is string {
  return bound === 'safe' || bound === 'finalized'
}

function isNumber(bound: string | undefined): bound is string {
  return bound?.startsWith('0x') === true && bound.length < 66
}
