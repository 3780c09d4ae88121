import { describe, expect, test } from 'vitest'
import { heapBody } from '../../tests/heapBody.ts'
import { membersOf } from './largeObject.ts'
import { LargeText } from './largeText.ts'
import { bytes, ofAnySize } from './parameters/bytes.ts'
import { list } from './parameters/list.ts'
import { numberKind } from './parameters/number.ts'
import { readSplit } from './split.ts'

const long = 'ab'.repeat(40_000)
const largeText = (text: string) => new LargeText(heapBody(String, Buffer.from(text)), 0, Buffer.byteLength(text))
const large = (value: unknown) => largeText(JSON.stringify(value))

describe('bodies', () => {
  test('behavior: parameters are parsed on first use, large ones never', () => {
    const body = Buffer.from(`{"id":1.0,"method":"a","params":[{"x":1},"${long}"]}`)
    const [first, second] = [body.indexOf('{"x"'), body.indexOf('"ab')]
    const places = [0, 6, 9, 19, 22, 2, first, first + 7, second, second + long.length + 2]
    const parsed = readSplit(heapBody(String, body), JSON.stringify({ isBatch: false, requests: [places] }), 50)
    if (parsed.kind !== 'single' || 'error' in parsed.call) throw new Error('a call is expected')
    expect([parsed.call.id, parsed.call.method]).toEqual(['1.0', 'a'])
    const [one, two] = parsed.call.params ?? []
    expect([one, (two as LargeText).content?.toString()]).toEqual([{ x: 1 }, long])
    expect(parsed.call.paramText(0).toString()).toBe('{"x":1}')
  })

  test('behavior: a small parameter after a large one is parsed', () => {
    const body = Buffer.from(`{"id":1,"method":"a","params":["${long}","latest"]}`)
    const [first, second] = [body.indexOf('"ab'), body.indexOf('"latest')]
    const places = [0, 6, 7, 17, 20, 2, first, first + long.length + 2, second, second + 8]
    const parsed = readSplit(heapBody(String, body), JSON.stringify({ isBatch: false, requests: [places] }), 50)
    if (parsed.kind !== 'single' || 'error' in parsed.call) throw new Error('a call is expected')
    expect(parsed.call.params?.[1]).toBe('latest')
  })

  test('error: faults of bodies and of requests', () => {
    const codeOf = (told: object) => {
      const parsed = readSplit(heapBody(String, Buffer.from('7')), JSON.stringify(told), 50)
      return parsed.kind === 'single' && 'error' in parsed.call ? [parsed.call.id, parsed.call.error.code] : undefined
    }
    expect(codeOf({ fault: 'NotJson' })).toEqual(['null', -32700])
    for (const fault of ['TooDeep', 'TooManyValues', 'EmptyBatch', 'LongBatch']) {
      expect(codeOf({ fault })).toEqual(['null', -32600])
    }
    expect(codeOf({ isBatch: false, requests: [[4, 0, 1, 0, 0, 0]] })).toEqual(['7', -32600])
    expect(codeOf({ isBatch: false, requests: [[1, 0, 0, 0, 0, 0]] })).toEqual(['null', -32600])
  })
})

describe('large values', () => {
  test('behavior: members of an object, however they are written', () => {
    const text = `{ "a" : {"b":["}",1]} ,"c\\"":"x\\"", "data":"0x${long}","n":5 }`
    const members = membersOf(largeText(text))
    expect(members).toMatchObject({ a: { b: ['}', 1] }, 'c"': 'x"', n: 5 })
    expect((members?.data as LargeText).content?.toString()).toBe(`0x${long}`)
    expect(membersOf(large([1]))).toBeUndefined()
  })

  test('error: an odd number of digits', () => {
    const odd = () => ofAnySize(bytes).readLarge?.(large(`0x${long}a`))
    expect(odd).toThrow(expect.objectContaining({ message: 'Invalid data format: invalid hex value.', code: -32602 }))
  })

  test('behavior: a list is read in parts', () => {
    const keys = list('storageKeys', numberKind('key'), 1024)
    const words = Array.from({ length: 1024 }, (_none, index) => `0x${index.toString(16).padStart(64, '0')}`)
    expect(keys.readLarge?.(large(words))).toEqual(words)
    expect(() => keys.readLarge?.(large([...words, '0x1']))).toThrow('more than 1024')
    expect(() => keys.readLarge?.(large([long, 'x,y']))).toThrow('Invalid param')
    expect(() => keys.readLarge?.(large({ long }))).toThrow('an array is expected')
  })
})
