import type { CallObject } from '../rpc/parameters/callObject.ts'
import type { LogCriteria } from '../rpc/parameters/logFilter.ts'
import { readWanted, type Wanted } from '../rpc/parameters/subscription.ts'
import type { TraceFilter } from '../rpc/parameters/traceFilter.ts'

// Which addresses a request names: what allow lists of contracts are asked about. Null where it is left open, so that it
// could be any: a contract that is created, logs of all addresses.

type Contracts = (params: readonly unknown[]) => readonly (string | null)[]

/** A parameter that is an address. */
export function addressAt(index: number): Contracts {
  return (params) => [params[index] as string]
}

/** `to` of a call or of a transaction. */
export function calledAt(index: number): Contracts {
  return (params) => [(params[index] as CallObject).to ?? null]
}

/** `address` of a log filter. */
export function loggedAt(index: number): Contracts {
  return (params) => (params[index] as LogCriteria).address ?? [null]
}

/** `toAddress` of a trace filter. */
export function tracedAt(index: number): Contracts {
  return (params) => (params[index] as TraceFilter).toAddress ?? [null]
}

/** `to` of all calls of a simulation. */
export function simulatedAt(index: number): Contracts {
  return (params) => {
    const { blockStateCalls } = JSON.parse(params[index] as string) as { blockStateCalls: { calls?: CallObject[] }[] }
    return blockStateCalls.flatMap(({ calls = [] }) => calls.map(({ to }) => to ?? null))
  }
}

/** `address` of a subscription to logs; other subscriptions name nothing. */
export const subscribed: Contracts = ([kind, options]) => {
  if (kind !== 'logs') return []
  const wanted = readWanted(kind as Wanted['kind'], options)
  return wanted.kind === 'logs' ? (wanted.criteria.address ?? [null]) : []
}

/** Receiver of a signed transaction. One that cannot be read is left open: it is not let through on a guess. */
export function sentAt(index: number): Contracts {
  return (params) => [receiverOf(Buffer.from((params[index] as string).slice(2), 'hex'))]
}

/** The fourth element of the list that a transaction is, in the canonical form of RLP. */
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

/** Where the payload of an item begins and ends; undefined for what is not canonical. */
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
