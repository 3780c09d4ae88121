import { expect, test } from 'vitest'
import { newApiKey } from '../auth/apiKey.ts'
import { isRequestId, newRequestId } from './requestId.ts'

test.each([
  ['0f8fad5b-d9cb-469f-a165-70867728950e', true],
  ['Root:1-67891233-abcdef012345678912345678', true],
  ['a', true],
  ['', false],
  ['a b', false],
  ['a\r\nb', false],
  ['a'.repeat(65), false],
  ['eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln', false],
  [newApiKey(), false],
])('behavior: whether %j is kept', (text, expected) => {
  expect(isRequestId(text)).toBe(expected)
})

test('behavior: generated ids are valid for the next node, and differ', () => {
  const names = Array.from({ length: 1000 }, newRequestId)
  expect(new Set(names).size).toBe(1000)
  expect(names.every(isRequestId)).toBe(true)
})
