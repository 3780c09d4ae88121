import { Type } from 'typebox'
import { invalidParams } from '../errors.ts'
import { type Kind, readMember, refuse } from '../kind.ts'
import { maxParsedBytes } from '../largeBody.ts'

const openList = 0x5b

/** Array of at most `maximum` values of one kind. Errors name the element: `storageKeys[3]`. */
export function list<T>(name: string, element: Kind<T>, maximum: number): Kind<T[]> {
  return {
    name,
    expects: `an array of at most ${maximum} elements, each ${element.expects}`,
    schema: Type.Array(element.schema, { maxItems: maximum }),
    read(value) {
      if (!Array.isArray(value)) return refuse(this, `Invalid ${name}: an array is expected.`)
      if (value.length > maximum) {
        throw invalidParams(`Invalid ${name}: more than ${maximum} elements.`, `${name}: got ${value.length}`)
      }
      return value.map((one, index) => readMember(`${name}[${index}]`, element, one))
    },
    readLarge(text) {
      if (text.length > 2 * maxParsedBytes) throw invalidParams(`Invalid ${name}: more than ${maximum} elements.`)
      const { bytes } = text
      if (bytes[0] !== openList) return refuse(this, `Invalid ${name}: an array is expected.`)
      // Parsed in two parts, split at a comma: the elements contain none.
      const middle = bytes.indexOf(',', bytes.length / 2)
      const parts = [bytes.subarray(1, middle), bytes.subarray(middle + 1, -1)]
      try {
        return this.read(parts.flatMap((part) => JSON.parse(`[${part}]`) as unknown[]))
      } catch (error) {
        if (error instanceof SyntaxError) return this.read([null])
        throw error
      }
    },
  }
}
