import { Type } from 'typebox'
import { invalidParams } from '../errors.ts'
import { type Kind, readMember, refuse } from '../kind.ts'
import { address } from './address.ts'
import { numberedBlock } from './block.ts'
import { blockHash, topic } from './hash.ts'

/** What logs to take. */
export interface LogCriteria {
  /** Any of these; absent: any address. */
  readonly address?: readonly string[]
  /** By position: null takes anything, a list any of its topics. */
  readonly topics?: readonly (readonly string[] | null)[]
}

/** What logs to take and where, members in canonical form. */
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

/** The parameter of eth_getLogs and eth_newFilter. */
export const logFilter: Kind<LogFilter> = {
  name: 'filter',
  expects: 'an object with fromBlock, toBlock or blockHash, address, topics',
  schema,
  read(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(this, 'Invalid filter object')
    const members = value as Record<string, unknown>
    const { address: addresses, topics } = readCriteria('filter', members)
    const filter: Writable<LogFilter> = members.blockHash === undefined ? readRange(members) : readHash(members)
    if (addresses !== undefined) filter.address = addresses
    if (topics !== undefined) filter.topics = topics
    return filter
  },
}

/** The members `address` and `topics` of an object parameter called `owner`. */
export function readCriteria(owner: string, members: Record<string, unknown>): LogCriteria {
  const criteria: Writable<LogCriteria> = {}
  const addresses = readAddresses(owner, members.address)
  if (addresses !== undefined) criteria.address = addresses
  const topics = readTopics(owner, members.topics)
  if (topics !== undefined) criteria.topics = topics
  return criteria
}

/** What an installed filter or a subscription may keep in memory: addresses and topics as JSON. */
const maxKeptBytes = 131_072

/** Refuses criteria that are too large to be kept. A search, which keeps nothing, may have more. */
export function checkKept({ address: addresses, topics }: LogCriteria): void {
  const size = JSON.stringify([addresses, topics]).length
  if (size > maxKeptBytes) {
    const hint = `expected at most ${maxKeptBytes} bytes of addresses and topics, got ${size}`
    throw invalidParams('Too many addresses and topics', hint)
  }
}

function readHash(members: Record<string, unknown>): { blockHash: string } {
  if (members.blockHash === null)
    throw invalidParams('Invalid block hash: incorrect length.', 'filter.blockHash: expected 32 bytes')
  const hash = readMember('filter', blockHash, members.blockHash)
  if (members.fromBlock !== undefined || members.toBlock !== undefined) {
    throw invalidParams('Cannot specify both blockHash and fromBlock/toBlock')
  }
  return { blockHash: hash }
}

function readRange(members: Record<string, unknown>): { fromBlock?: string; toBlock?: string } {
  const range: { fromBlock?: string; toBlock?: string } = {}
  if (members.fromBlock !== undefined) range.fromBlock = readMember('filter', fromBlock, members.fromBlock)
  if (members.toBlock !== undefined) range.toBlock = readMember('filter', toBlock, members.toBlock)
  const isFromHead = range.fromBlock === 'latest' || range.fromBlock === 'pending'
  if (isFromHead && range.toBlock === 'earliest') throw invalidParams('fromBlock cannot be greater than toBlock')
  if (isNumber(range.fromBlock) && isNumber(range.toBlock) && BigInt(range.fromBlock) > BigInt(range.toBlock)) {
    throw invalidParams('fromBlock cannot be greater than toBlock')
  }
  return range
}

function readAddresses(owner: string, value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return [readMember(owner, address, value)]
  const addresses = value.map((one) => readMember(owner, address, one))
  return addresses.length === 0 ? undefined : addresses
}

function readTopics(owner: string, value: unknown): (string[] | null)[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return [[readMember(owner, oneTopic, value)]]
  const positions = value.map((position): string[] | null => {
    if (position === null) return null
    if (!Array.isArray(position)) return [readMember(owner, oneTopic, position)]
    // A null among alternatives is dropped, so [A, null] means A.
    const choices = position.filter((one) => one !== null).map((one) => readMember(owner, oneTopic, one))
    return choices.length === 0 ? null : choices
  })
  return positions.length === 0 ? undefined : positions
}

function isNumber(bound: string | undefined): bound is string {
  return bound?.startsWith('0x') === true && bound.length < 66
}
