import { Type } from 'typebox'
import { invalidParams, RpcError } from '../errors.ts'
import { type Kind, quoted, readLarge, readMember, refuseLate } from '../kind.ts'
import { membersOf } from '../largeObject.ts'
import { LargeText } from '../largeText.ts'
import { address } from './address.ts'
import { bytes, ofAnySize } from './bytes.ts'
import { numberKind } from './number.ts'

/** A call or a transaction to sign, members in canonical form. Unknown members are dropped, null counts as absent. */
export interface CallObject {
  from?: string
  to?: string
  gas?: string
  gasPrice?: string
  value?: string
  nonce?: string
  /** As sent: an error quotes it. */
  chainId?: string
  data?: string | Buffer
}

/** Returns the JSON text of a call: bytes if its data is large, whose digits the core checks. */
export function callText(call: CallObject): string | Buffer {
  const { from, to, gas, gasPrice, value, nonce, chainId, data } = call
  if (typeof data === 'object') {
    const head = JSON.stringify({ ...call, data: '' }).slice(0, -2)
    return Buffer.concat([Buffer.from(head), data, Buffer.from('"}')])
  }
  const hasMore = (from ?? gas ?? gasPrice ?? value ?? nonce ?? chainId) !== undefined
  if (hasMore || to === undefined || data === undefined) return JSON.stringify(call)
  // Most calls have these two members only: hex digits, which need no escapes.
  return `{"to":"${to}","data":"${data}"}`
}

const from = { ...address, name: 'from' }
const to = { ...address, name: 'to' }
const data = { ...ofAnySize(bytes), name: 'data' }
const input = { ...ofAnySize(bytes), name: 'input' }
const gas = memberNumber('gas')
const gasLimit = memberNumber('gasLimit')
const gasPrice = memberNumber('gasPrice')
const value = memberNumber('value')
const nonce = memberNumber('nonce')
const chainId = memberNumber('chainId')

const schema = Type.Object({
  from: Type.Optional(from.schema),
  to: Type.Optional(to.schema),
  gas: Type.Optional(gas.schema),
  gasPrice: Type.Optional(gasPrice.schema),
  value: Type.Optional(value.schema),
  nonce: Type.Optional(nonce.schema),
  data: Type.Optional(data.schema),
  input: Type.Optional(input.schema),
})

/** First parameter of eth_call and eth_estimateGas. Empty numbers count as absent. */
export const callObject: Kind<CallObject> = {
  name: 'call',
  expects: 'an object with from, to, gas, gasPrice, value, data',
  schema,
  read(sent) {
    return readCall(this, sent, (number) => number === '' || number === '0x')
  },
  readLarge(text) {
    return this.read(membersOf(text))
  },
}

/** Parameter of eth_sendTransaction. Empty numbers are rejected, because they would be signed as zero. */
export const transactionObject: Kind<CallObject> = {
  name: 'transaction',
  expects: 'an object with from, to, gas, gasPrice, value, data, nonce',
  schema,
  read(sent) {
    try {
      const call = readCall(this, sent, () => false)
      const members = sent as Record<string, unknown>
      for (const kind of [gas, gasLimit, gasPrice, value, nonce]) {
        if (members[kind.name] === '0x')
          refuseLate({ ...kind, name: `transaction.${kind.name}` }, 'Invalid param 0x: no digits', 'in use')
      }
      return call
    } catch (error) {
      // The reference checks the sender before it uses other members.
      const hasSender = typeof sent === 'object' && sent !== null && 'from' in sent && isPresent(sent.from)
      if (error instanceof RpcError && error.shows !== undefined && !hasSender)
        throw invalidParams('from is null', error.hint)
      throw error
    }
  },
  readLarge(text) {
    return this.read(membersOf(text))
  },
}

/** Number of the call. The reference reads objects and lists as empty text. */
function memberNumber(name: string): Kind<string> {
  const kind = numberKind(name)
  return {
    ...kind,
    read(sent) {
      if (typeof sent !== 'object') return kind.read(sent)
      const message = `Invalid param ${quoted(sent)}: value must be a valid hex or string number.`
      return refuseLate(this, message, 'only here')
    },
  }
}

function readCall(owner: Kind<CallObject>, sent: unknown, isEmpty: (number: unknown) => boolean): CallObject {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return refuseLate(owner, `Invalid ${owner.name} object`, 'only here')
  }
  const members = sent as Record<string, unknown>
  try {
    return readMembers(owner, members, isEmpty)
  } catch (error) {
    if (error instanceof RpcError && error.shows !== undefined) checkForms(owner.name, members)
    throw error
  }
}

/** Throws the first fault of form among the members. */
function checkForms(owner: string, members: Record<string, unknown>): void {
  for (const kind of [from, to, gas, gasPrice, gasLimit, nonce, chainId, value, data, input]) {
    const member = members[kind.name]
    try {
      if (isPresent(member)) readData(owner, kind, member)
    } catch (error) {
      if (!(error instanceof RpcError) || error.shows === undefined) throw error
    }
  }
}

/** Reads the members in the order of the reference, without a loop, which is faster: most calls are read here. */
function readMembers(
  owner: Kind<CallObject>,
  members: Record<string, unknown>,
  isEmpty: (number: unknown) => boolean,
): CallObject {
  const { name } = owner
  const call: CallObject = {}
  const isGiven = (number: unknown): boolean => isPresent(number) && !isEmpty(number)
  if (isPresent(members.from)) call.from = readMember(name, from, members.from)
  if (isPresent(members.to)) call.to = readMember(name, to, members.to)
  if (isGiven(members.gas)) call.gas = readMember(name, gas, members.gas)
  if (isGiven(members.gasPrice)) call.gasPrice = readMember(name, gasPrice, members.gasPrice)
  if (isGiven(members.gasLimit)) {
    const read = readMember(name, gasLimit, members.gasLimit)
    // Second name of gas for transactions; calls ignore it.
    if (owner === transactionObject) call.gas ??= read
  }
  if (isGiven(members.nonce)) call.nonce = readMember(name, nonce, members.nonce)
  if (isGiven(members.chainId)) {
    readMember(name, chainId, members.chainId)
    call.chainId = quoted(members.chainId)
  }
  if (isGiven(members.value)) call.value = readMember(name, value, members.value)
  if (isPresent(members.data)) call.data = readData(name, data, members.data)
  if (isPresent(members.input)) call.data = chosenData(owner, call.data, readData(name, input, members.input))
  return call
}

function readData(owner: string, kind: Kind<string | Buffer>, value: unknown): string | Buffer {
  return value instanceof LargeText ? readLarge(kind, value) : readMember(owner, kind, value)
}

function isPresent(member: unknown): boolean {
  return member !== undefined && member !== null
}

/** Returns the payload: `input` is the newer name of `data`. Two different payloads are ambiguous. */
function chosenData(
  owner: Kind<CallObject>,
  data: string | Buffer | undefined,
  input: string | Buffer,
): string | Buffer {
  if (data === undefined || data === '0x') return input
  if (input === '0x' || isSame(data, input)) return data
  return refuseLate(owner, 'Invalid input: data and input are both given and differ', 'only here')
}

function isSame(data: string | Buffer, input: string | Buffer): boolean {
  if (typeof data === 'string' && typeof input === 'string') return input.toLowerCase() === data.toLowerCase()
  return typeof data === 'object' && typeof input === 'object' && data.equals(input)
}
