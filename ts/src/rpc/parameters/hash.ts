import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Kind, refuse, refuseLate } from '../kind.ts'
import { hexText } from './hexText.ts'

const schema = Type.String({ pattern: '^(0x)?[0-9a-fA-F]{64}$' })
const check = Compile(schema)
const usual = hexText(64)

function hash(name: string, noun: string): Kind<string> {
  return {
    name,
    expects: '32 bytes, 0x and 64 hex digits',
    schema,
    read(value) {
      if (typeof value === 'string' && usual.test(value)) return value
      if (check.Check(value)) return value.length === 66 ? value : `0x${value}`
      if (value === null) return refuse(this, `${name} is null`)
      // The reference pads a missing digit.
      if (typeof value === 'string' && /^0x[0-9a-fA-F]{63}$/.test(value)) {
        return refuseLate(this, `Invalid ${noun}: incorrect length.`, 'only here')
      }
      // Digits are checked only if their number is about right.
      const isAboutAsLong = typeof value === 'string' && value.length >= 64 && value.length <= 66
      return refuse(
        this,
        isAboutAsLong && !/^(0x)?[0-9a-fA-F]*$/.test(value)
          ? `Invalid ${noun} format: invalid hex value`
          : `Invalid ${noun}: incorrect length.`,
      )
    },
  }
}

export const blockHash = hash('blockHash', 'block hash')
export const transactionHash = hash('transactionHash', 'transaction hash')
export const topic = hash('topic', 'topic')
export const knownWork = hash('after', 'hash')
