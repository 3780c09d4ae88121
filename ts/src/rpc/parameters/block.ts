import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, quoted, refuse, refuseLate, shortened } from '../kind.ts'
import { blockHash } from './hash.ts'

// A block id crosses to the addon as one text: a tag, a number as sent, `hash:0x..` or `canonical:0x..`.

const tags = ['latest', 'earliest', 'pending', 'safe', 'finalized']
/** 0x and 32 bytes. */
const maxLength = 66
const height = Type.String({ pattern: '^0x[0-9a-fA-F]{1,16}$' })
const hash = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const schema = Type.Union([Type.Enum(tags), height, hash])
const check = Compile(Type.Union([Type.Enum(['latest', 'earliest', 'pending']), height, hash]))
const expects = 'latest, earliest, pending, safe, finalized, a block number (0x and hex digits)'

/** Block id of a state read: tag, number, hash, or an object with `blockHash` or `blockNumber`. */
export const stateBlock: Kind<string> = {
  name: 'block',
  expects: `${expects}, a block hash, or an object with blockHash or blockNumber`,
  schema: Type.Union([
    schema,
    Type.Object({ blockHash: blockHash.schema, requireCanonical: Type.Optional(Type.Boolean()) }),
    Type.Object({ blockNumber: height }),
  ]),
  whenAbsent: 'latest',
  hasDepthTags: true,
  read(value) {
    return readStateBlock(this, value, false)
  },
}

/** Like `stateBlock`, but accepts decimal numbers (eth_call). */
export const callBlock: Kind<string> = {
  name: 'block',
  expects: stateBlock.expects,
  schema: stateBlock.schema,
  whenAbsent: 'latest',
  hasDepthTags: true,
  read(value) {
    return readStateBlock(this, value, true)
  },
}

/** Block id by height: tag or number; also accepts a hash. */
export const numberedBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  whenAbsent: 'latest',
  hasDepthTags: true,
  read(value) {
    if (value === 'latest') return value
    if (check.Check(value)) return fitting(this, value)
    return lookUp(this, readIdentifier(this, quoted(value)))
  },
}

/** Block id of a raw header or of traces: like `numberedBlock`, but any text is looked up. */
export const headerBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  whenAbsent: 'latest',
  hasDepthTags: true,
  read(value) {
    return check.Check(value) ? fitting(this, value) : lookUp(this, quoted(value))
  },
}

/** Block id of an estimate: like `numberedBlock`, but accepts decimal numbers. */
export const estimateBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  whenAbsent: 'latest',
  hasDepthTags: true,
  read(value) {
    if (value === 'latest') return value
    if (check.Check(value)) return fitting(this, value)
    return executionBlock(this, readIdentifier(this, quoted(value)))
  },
}

function readStateBlock(kind: Kind<string>, value: unknown, isCall: boolean): string {
  if (value === 'latest') return value
  if (check.Check(value)) return fitting(kind, value)
  if (typeof value === 'string') {
    if (!isDecimal(value) && !isHex(value)) return refuse(kind, `Invalid block identifier '${value}'`)
    return isCall ? executionBlock(kind, value) : lookUp(kind, value)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(kind, 'Invalid input')
  return readBlockObject(kind, value as Record<string, unknown>, isCall)
}

function readBlockObject(kind: Kind<string>, members: Record<string, unknown>, isCall: boolean): string {
  if (members.blockHash === undefined && members.blockNumber === undefined) return refuse(kind, 'Invalid block input')
  // All members are read in the order of the request, then one of them is used.
  let hash: string | undefined
  let number = ''
  let isCanonical = false
  for (const [name, value] of Object.entries(members)) {
    if (name === 'blockHash') hash = readNamedHash(kind, value)
    if (name === 'blockNumber') number = readNumber(kind, value)
    if (name === 'requireCanonical') isCanonical = readCanonical(kind, value)
  }
  if (hash !== undefined) return `${isCanonical ? 'canonical' : 'hash'}:${hash}`
  if (!isCall) return lookUp(kind, number)
  if (number === '') return refuseLate(kind, 'Invalid block identifier: empty or null.', 'in use')
  if (!isDecimal(number) && !isHex(number)) return refuseLate(kind, `Invalid block identifier '${number}'`, 'in use')
  return executionBlock(kind, number)
}

function readNamedHash(kind: Kind<string>, value: unknown): string {
  return value === null ? refuse(kind, 'Invalid block hash: incorrect length.') : blockHash.read(value)
}

function readNumber(kind: Kind<string>, value: unknown): string {
  if (value === null) return refuse(kind, 'Invalid param: null')
  const text = quoted(value)
  if (text.length > maxLength) return refuse(kind, `Invalid param: ${shortened(text)}`)
  if (typeof value === 'string' && /^((0x)?[0-9a-fA-F]*|[-+]?[0-9]+)$/.test(text)) return text
  return refuse(kind, `Invalid param ${text}: value must be a valid hex or string number.`)
}

function readCanonical(kind: Kind<string>, value: unknown): boolean {
  const text = String(typeof value === 'boolean' ? value : quoted(value)).toLowerCase()
  if (text === 'true' || text === 'false') return text === 'true'
  return refuse(kind, 'Invalid input: requireCanonical must be a String "true" or "false"')
}

/** Checks the form of `numberedBlock`: a tag in any case, decimal or 0x hex. */
function readIdentifier(kind: Kind<string>, text: string): string {
  if (text === '') return refuse(kind, 'Invalid block identifier: empty or null.')
  if (isDecimal(text) || isHex(text) || tags.includes(text.toLowerCase())) return text
  return refuse(kind, `Invalid block identifier '${text}'`)
}

/** Reads a hash if the text has its length, else a number in hex. */
function lookUp(kind: Kind<string>, text: string): string {
  if (text.length > maxLength) return refuseLate(kind, `invalid block identifier ${shortened(text)}`, 'in use')
  if (text.length >= 64 && /^(0x)?[0-9a-f]*$/.test(text)) {
    const isHash = /^(0x)?[0-9a-f]{64}$/.test(text)
    return isHash ? text : refuseLate(kind, `invalid block hash ${text}`, 'in use')
  }
  return isHex(text) ? fittingNumber(kind, text) : refuseLate(kind, `invalid blocknumber ${text}`, 'in use')
}

/** Reads the block of a call or an estimate: a number in hex or decimal, or a hash. */
function executionBlock(kind: Kind<string>, text: string): string {
  if (isHex(text)) return fitting(kind, text)
  if (isDecimal(text)) return fittingNumber(kind, hexOf(text))
  return refuseLate(
    kind,
    `Unsupported block specifier '${text}'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).`,
    'in use',
  )
}

/** Rejects block numbers above 2^63 - 1; a text of 64 digits is a hash. */
function fitting(kind: Kind<string>, text: string): string {
  return text.length < 18 || text.length === 66 || !text.startsWith('0x') ? text : fittingNumber(kind, text)
}

function fittingNumber(kind: Kind<string>, text: string): string {
  const digits = text.replace(/^0x0*(?=.)/, '')
  if (digits.length < 16 || /^[0-7].{15}$/.test(digits)) return text
  return refuseLate(kind, `Invalid block number ${text}`, 'in use')
}

function isDecimal(text: string): boolean {
  return /^[0-9]+$/.test(text)
}

function isHex(text: string): boolean {
  return /^0x[0-9a-fA-F]+$/.test(text)
}

/** Converts a decimal number to hex. Numbers of more than 80 digits are not converted: very long ones take a second. */
function hexOf(decimal: string): string {
  const digits = decimal.replace(/^0+(?=.)/, '')
  return digits.length > 80 ? digits : `0x${BigInt(digits).toString(16)}`
}
