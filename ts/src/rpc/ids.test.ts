import { describe, expect, test } from 'vitest'
import { exactId, exactIds } from './ids.ts'

const idOf = (body: string) => exactId(JSON.parse(body).id ?? null, body)

describe('exactId', () => {
  test.each([
    ['{"id":1}', '1'],
    ['{"jsonrpc":"2.0","id":0,"method":"a"}', '0'],
    ['{"id": -5 }', '-5'],
    ['{"id":-0}', '-0'],
    ['{"id":"abc"}', '"abc"'],
    ['{"id":""}', '""'],
    ['{"id":null}', 'null'],
    ['{"id":1.0}', '1.0'],
    ['{"id":1.5}', '1.5'],
    ['{"id" : 1e3}', '1e3'],
    ['{"id":9007199254740993}', '9007199254740993'],
    ['{"id":12345678901234567890123,"method":"x"}', '12345678901234567890123'],
    [' \n{"params":[{"id":7.0},"}\\"{"],"id":3.0}', '3.0'],
    ['{"id":1,"id":2.0}', '2.0'],
  ])('behavior: %s', (body, expected) => {
    expect(idOf(body)).toBe(expected)
  })
})

describe('exactIds', () => {
  test('behavior: each element keeps its own form', () => {
    const body =
      '[ {"id":1}, 5, {"method":"x","params":["]"]}, {"id":2.0},{"id":"s"} ,{"a":{"id":9},"id":18446744073709551616}]'
    const ids = [1, null, null, 2, 's', 18446744073709552000]
    expect(exactIds(ids, body)).toEqual(['1', 'null', 'null', '2.0', '"s"', '18446744073709551616'])
  })
})
