import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, quoted, refuse } from '../kind.ts'
import { blockHash } from './hash.ts'

// A selector crosses to the addon as one text: a tag, a number as sent, `hash:0x..` or `canonical:0x..`.

const words = ['latest', 'earliest', 'pending', 'safe', 'finalized']
const schema = Type.Union([
  Type.Enum(['latest', 'earliest', 'pending']),
  Type.String({ pattern: '^0x[0-9a-fA-F]{1,16}$' }),
  Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
])
const check = Compile(schema)
const expects = 'latest, earliest, pending, a block number (0x and hex digits)'

/** Selectors of state reads: tag, number, hash text, or an object with `blockHash` or `blockNumber`. */
export const stateBlock: Kind<string> = {
  name: 'block',
  expects: `${expects}, a block hash, or an object with blockHash or blockNumber`,
  schema: Type.Union([
    schema,
    Type.Object({ blockHash: blockHash.schema, requireCanonical: Type.Optional(Type.Boolean()) }),
    Type.Object({ blockNumber: Type.String({ pattern: '^0x[0-9a-fA-F]{1,16}$' }) }),
  ]),
  read(value) {
    return readStateBlock(this, value, false)
  },
}

/** As `stateBlock`, and decimal numbers are understood (eth_call). */
export const callBlock: Kind<string> = {
  name: 'block',
  expects: stateBlock.expects,
  schema: stateBlock.schema,
  read(value) {
    return readStateBlock(this, value, true)
  },
}

/** Selectors of everything that is named by height: tag or number; a hash text names that block too. */
export const numberedBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  read(value) {
    if (value === 'latest') return value
    if (check.Check(value)) return fitting(this, value)
    const text = quoted(value)
    if (text === '') return refuse(this, 'Invalid block identifier: empty or null.')
    if (isDecimal(text) || isWord(text)) return refuse(this, `invalid blocknumber ${text}`)
    return refuseText(this, text)
  },
}

/** The block of a raw header: as `numberedBlock`, with one message for all that is malformed. */
export const headerBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  read(value) {
    return check.Check(value) ? fitting(this, value) : refuse(this, `invalid blocknumber ${quoted(value)}`)
  },
}

/** The block of an estimate: as `numberedBlock`, and decimal numbers are understood. */
export const estimateBlock: Kind<string> = {
  name: 'block',
  expects,
  schema,
  read(value) {
    if (value === 'latest') return value
    if (check.Check(value)) return fitting(this, value)
    const text = quoted(value)
    if (text === '') return refuse(this, 'Invalid block identifier: empty or null.')
    if (isDecimal(text)) return fittingNumber(this, hexOf(text))
    if (isWord(text)) {
      return refuse(
        this,
        `Unsupported block specifier '${text}'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).`,
      )
    }
    return refuseText(this, text)
  },
}

function readStateBlock(kind: Kind<string>, value: unknown, takesDecimal: boolean): string {
  if (value === 'latest') return value
  if (check.Check(value)) return fitting(kind, value)
  if (typeof value === 'string') {
    if (isDecimal(value)) {
      return takesDecimal ? fittingNumber(kind, hexOf(value)) : refuse(kind, `invalid blocknumber ${value}`)
    }
    return refuseText(kind, value)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(kind, 'Invalid input')
  return readBlockObject(kind, value as Record<string, unknown>, takesDecimal)
}

function readBlockObject(kind: Kind<string>, members: Record<string, unknown>, takesDecimal: boolean): string {
  const { blockHash: hash, blockNumber, requireCanonical } = members
  if (hash !== undefined) {
    if (hash === null) return refuse(kind, 'Invalid block hash: incorrect length.')
    const text = blockHash.read(hash)
    if (requireCanonical === undefined || requireCanonical === false || requireCanonical === 'false') {
      return `hash:${text}`
    }
    if (requireCanonical === true || requireCanonical === 'true') return `canonical:${text}`
    return refuse(kind, 'Invalid input: requireCanonical must be a String "true" or "false"')
  }
  if (blockNumber === undefined) return refuse(kind, 'Invalid block input')
  if (blockNumber === null) return refuse(kind, 'Invalid param: null')
  if (typeof blockNumber === 'string') {
    if (/^0x[0-9a-fA-F]{1,64}$/.test(blockNumber)) return fittingNumber(kind, blockNumber)
    if (isDecimal(blockNumber)) {
      return takesDecimal ? fittingNumber(kind, hexOf(blockNumber)) : refuse(kind, `invalid blocknumber ${blockNumber}`)
    }
  }
  return refuse(kind, `Invalid param ${quoted(blockNumber)}: value must be a valid hex or string number.`)
}

/** Block numbers end at 2^63 - 1; a text of 64 digits is a hash. */
function fitting(kind: Kind<string>, text: string): string {
  return text.length < 18 || text.length === 66 || !text.startsWith('0x') ? text : fittingNumber(kind, text)
}

function fittingNumber(kind: Kind<string>, text: string): string {
  if (/^0x0*[0-7]?[0-9a-fA-F]{0,15}$/.test(text)) return text
  return refuse(kind, `Invalid block number ${text}`)
}

function refuseText(kind: Kind<string>, text: string): never {
  if (/^0x[0-9a-fA-F]{17,}$/.test(text)) return refuse(kind, `Invalid block number ${text}`)
  return refuse(kind, `Invalid block identifier '${text}'`)
}

function isDecimal(text: string): boolean {
  return /^[0-9]+$/.test(text) && text.length !== 64
}

function isWord(text: string): boolean {
  return words.includes(text.toLowerCase())
}

/** The hex form of a decimal number, which has any number of digits. The conversion of very many takes a second. */
function hexOf(decimal: string): string {
  const digits = decimal.replace(/^0+(?=.)/, '')
  return digits.length > 80 ? digits : `0x${BigInt(digits).toString(16)}`
}
