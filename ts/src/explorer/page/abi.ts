// Values in the ABI encoding of Solidity. The data may be anything: the result is values or undefined.

/** Decoded value: decimal numbers, hex, texts, and lists of values. */
export type AbiValue = string | boolean | readonly AbiValue[]

const wordDigits = 64
/** Values that one decoding returns at most. */
const maxValues = 1000

class Malformed extends Error {}

interface Budget {
  left: number
}

/**
 * Decodes values of these types; undefined if the data do not fit. Types: address, bool, bytes, bytesN, intN, string, uintN, arrays, and
 * structs as `(uint256,address)`.
 */
export function decodeAbi(types: readonly string[], data: string): readonly AbiValue[] | undefined {
  const hex = data.replace(/^0x/, '')
  try {
    return decodeAll(types, hex, { left: maxValues })
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

function decodeAll(types: readonly string[], hex: string, budget: Budget): AbiValue[] {
  let at = 0
  return types.map((type) => {
    const isReferred = isDynamic(type)
    const value = decode(type, isReferred ? hex.slice(2 * sizeAt(hex, at)) : hex.slice(at), budget)
    at += isReferred ? wordDigits : wordsOf(type) * wordDigits
    return value
  })
}

function decode(type: string, hex: string, budget: Budget): AbiValue {
  budget.left--
  if (budget.left < 0) throw new Malformed()
  const array = /^(.*)\[([0-9]*)\]$/.exec(type)
  if (array !== null) {
    const [, element = '', fixed = ''] = array
    const count = fixed === '' ? sizeAt(hex, 0) : Number(fixed)
    if (count > budget.left) throw new Malformed()
    return decodeAll(Array<string>(count).fill(element), fixed === '' ? hex.slice(wordDigits) : hex, budget)
  }
  if (type.startsWith('(')) return decodeAll(membersOf(type), hex, budget)
  if (type === 'string') return new TextDecoder().decode(bytesOf(bytesAt(hex)))
  if (type === 'bytes') return `0x${bytesAt(hex)}`
  return word(type, wordAt(hex, 0))
}

function word(type: string, digits: string): AbiValue {
  if (type === 'address') return `0x${digits.slice(24)}`
  if (type === 'bool') return BigInt(`0x${digits}`) !== 0n
  const fixed = /^bytes([0-9]+)$/.exec(type)
  if (fixed !== null) return `0x${digits.slice(0, 2 * Number(fixed[1]))}`
  const number = BigInt(`0x${digits}`)
  return String(type.startsWith('int') ? BigInt.asIntN(256, number) : number)
}

/** Returns the types of the members of a struct: of `(uint256,(bool,bool)[])` two. */
export function membersOf(type: string): readonly string[] {
  const members: string[] = []
  let depth = 0
  let begin = 1
  for (let at = 0; at < type.length; at++) {
    const character = type[at]
    if (character === '(') depth++
    if (character === ')') depth--
    const isEnd = depth === 0 || (depth === 1 && character === ',')
    if (isEnd && at > begin) members.push(type.slice(begin, at))
    if (isEnd) begin = at + 1
  }
  return members
}

function isDynamic(type: string): boolean {
  const array = /^(.*)\[([0-9]*)\]$/.exec(type)
  if (array !== null) return array[2] === '' || isDynamic(array[1] ?? '')
  return type.startsWith('(') ? membersOf(type).some(isDynamic) : type === 'string' || type === 'bytes'
}

/** Returns the words of a type that is not dynamic. */
function wordsOf(type: string): number {
  const array = /^(.*)\[([0-9]+)\]$/.exec(type)
  if (array !== null) return Number(array[2]) * wordsOf(array[1] ?? '')
  return type.startsWith('(') ? membersOf(type).reduce((sum, member) => sum + wordsOf(member), 0) : 1
}

function bytesAt(hex: string): string {
  const end = wordDigits + 2 * sizeAt(hex, 0)
  if (end > hex.length) throw new Malformed()
  return hex.slice(wordDigits, end)
}

/** Reads a length or an offset, in bytes or elements. */
function sizeAt(hex: string, at: number): number {
  const digits = wordAt(hex, at)
  if (!/^0{56}/.test(digits)) throw new Malformed()
  return Number.parseInt(digits, 16)
}

function wordAt(hex: string, at: number): string {
  const digits = hex.slice(at, at + wordDigits)
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new Malformed()
  return digits
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_none, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}
