import { membersOf } from '../rpc/largeObject.ts'
import { LargeText } from '../rpc/largeText.ts'
import { address } from '../rpc/parameters/address.ts'
import { type FeedOptions, feedAddresses, readFeed } from '../rpc/parameters/feed.ts'
import { readWanted, type Wanted } from '../rpc/parameters/subscription.ts'

// Addresses that a request names, for allow lists of contracts. Null stands for an address that no list can contain: a
// contract creation, logs of all addresses, and an override of code or storage, with which an allowed address could
// execute any code.

/** `values` are read parameters, `sent` are those of the request: the core reads objects, so they are looked up there. */
type Contracts = (values: readonly unknown[], sent: readonly unknown[]) => readonly (string | null)[]

/** Returns a parameter that is an address. */
export function addressAt(index: number): Contracts {
  return (values) => [values[index] as string]
}

/** Returns `to` of a call or transaction, and the accounts of the state overrides at `overridesIndex`. */
export function calledAt(index: number, overridesIndex?: number): Contracts {
  return (_values, sent) => {
    const overrides = overridesIndex === undefined ? undefined : sent[overridesIndex]
    return [...called([sent[index]]), ...overridden(overrides)]
  }
}

/** Returns `to` of a call, and the accounts of `stateOverrides` in the options at `optionsIndex`. */
export function tracedCallAt(index: number, optionsIndex: number): Contracts {
  return (_values, sent) => {
    const options = sent[optionsIndex]
    if (options === undefined || options === null) return called([sent[index]])
    return [...called([sent[index]]), ...(isObject(options) ? overridden(options.stateOverrides) : [null])]
  }
}

/** Returns `to` of all calls of bundles, and the accounts of the state overrides at `overridesIndex`. */
export function bundledAt(index: number, overridesIndex: number): Contracts {
  return (_values, sent) => {
    const bundles = sent[index]
    if (!Array.isArray(bundles)) return [null]
    const calls = bundles.flatMap((bundle) => (isObject(bundle) ? called(bundle.transactions) : [null]))
    return [...calls, ...overridden(sent[overridesIndex])]
  }
}

/** Returns the keys of an object of addresses. */
export function keysAt(index: number): Contracts {
  return (_values, sent) => {
    const accounts = sent[index]
    return isObject(accounts) ? Object.keys(accounts).map(addressIn) : [null]
  }
}

/** Returns `to` of all calls of a list of [call, types]. */
export function tracedCallsAt(index: number): Contracts {
  return (_values, sent) => {
    const pairs = sent[index]
    return Array.isArray(pairs) ? called(pairs.map((pair) => (Array.isArray(pair) ? pair[0] : pair))) : [null]
  }
}

/** Returns `address` of a log filter. */
export function loggedAt(index: number): Contracts {
  return (_values, sent) => addressesOf(sent[index], 'address')
}

/** Returns `toAddress` of a trace filter. */
export function tracedAt(index: number): Contracts {
  return (_values, sent) => addressesOf(sent[index], 'toAddress')
}

/** Returns `to` of all calls of a simulation, and the accounts of its state overrides. */
export function simulatedAt(index: number): Contracts {
  return (_values, sent) => {
    const simulation = sent[index]
    const blocks = isObject(simulation) ? simulation.blockStateCalls : undefined
    if (!Array.isArray(blocks)) return [null]
    return blocks.flatMap((block) =>
      isObject(block) ? [...called(block.calls), ...overridden(block.stateOverrides)] : [null],
    )
  }
}

/** Returns the canonical form of an address; null for other values, which the core rejects or which name no contract. */
function addressIn(value: unknown): string | null {
  try {
    return address.read(value)
  } catch {
    return null
  }
}

/** Returns the addresses of a filter; null for any address, and for filters that are malformed or too large to be parsed. */
function addressesOf(filter: unknown, name: 'address' | 'toAddress'): readonly (string | null)[] {
  const value = isObject(filter) ? filter[name] : undefined
  return value === undefined || value === null ? [null] : anyOf([value].flat().map(addressIn))
}

function called(calls: unknown): (string | null)[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) return [null]
  return calls.map((call) => {
    const members = call instanceof LargeText ? membersOf(call) : call
    return isObject(members) ? addressIn(members.to) : null
  })
}

/** For methods that replace code or storage of an account: no account is allowed. */
export const rewritten: Contracts = () => [null]

/** Returns `address` of a subscription to logs; other subscriptions name no address. */
export const subscribed: Contracts = ([kind, options]) => {
  if (kind !== 'logs') return []
  const wanted = readWanted(kind as Wanted['kind'], options)
  return wanted.kind === 'logs' ? anyOf(wanted.criteria.address) : []
}

/** Returns `address` of a change feed with logs only; other contents may name any address. */
export const fed: Contracts = ([, options]) => feedAddresses((options as FeedOptions | undefined) ?? readFeed({}))

/** Returns the addresses of a filter. An empty list matches all addresses. */
function anyOf(addresses: readonly (string | null)[] | undefined): readonly (string | null)[] {
  return addresses === undefined || addresses.length === 0 ? [null] : addresses
}

/** Members of an account override that change neither code nor storage. */
const harmless = ['balance', 'nonce']

/** Returns the accounts of state overrides; null for each with more than balance and nonce, and for malformed ones. */
function overridden(overrides: unknown): (string | null)[] {
  if (overrides === undefined || overrides === null) return []
  if (!isObject(overrides)) return [null]
  return Object.entries(overrides).map(([account, members]) => (isHarmless(members) ? addressIn(account) : null))
}

function isHarmless(members: unknown): boolean {
  if (!isObject(members)) return false
  return Object.entries(members).every(([name, value]) => value === null || harmless.includes(name))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LargeText)
}

/** Returns the receiver of a signed transaction; null if it cannot be read or is too large, so that the request is rejected. */
export function sentAt(index: number): Contracts {
  return (params) => {
    const raw = params[index]
    return [typeof raw === 'string' ? receiverOf(Buffer.from(raw.slice(2), 'hex')) : null]
  }
}

/** Returns the fourth element of an RLP list in canonical form. */
function receiverOf(raw: Buffer): string | null {
  const list = itemAt(raw, 0)
  if (list === undefined || !list.isList || list.end !== raw.length) return null
  let at = list.start
  for (let index = 0; ; index++) {
    const element = itemAt(raw, at)
    if (element === undefined || element.isList) return null
    if (index === 3) {
      return element.end - element.start === 20 ? `0x${raw.toString('hex', element.start, element.end)}` : null
    }
    at = element.end
  }
}

/** Returns start and end of the payload of an RLP item; undefined if its form is not canonical. */
function itemAt(raw: Buffer, at: number): { isList: boolean; start: number; end: number } | undefined {
  const first = raw[at]
  if (first === undefined) return undefined
  if (first < 0x80) return { isList: false, start: at, end: at + 1 }
  const isList = first >= 0xc0
  const form = first - (isList ? 0xc0 : 0x80)
  const lengthBytes = Math.max(0, form - 55)
  const start = at + 1 + lengthBytes
  if (lengthBytes > 4 || start > raw.length) return undefined
  const length = lengthBytes === 0 ? form : raw.readUIntBE(at + 1, lengthBytes)
  if (lengthBytes > 0 && (raw[at + 1] === 0 || length <= 55)) return undefined
  if (!isList && length === 1 && (raw[start] ?? 0) < 0x80) return undefined
  return start + length > raw.length ? undefined : { isList, start, end: start + length }
}
