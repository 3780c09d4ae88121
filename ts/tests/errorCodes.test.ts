import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { code } from '../src/rpc/errors.ts'

test('behavior: both languages know the same codes', () => {
  const source = readFileSync(new URL('../../crates/answers/src/error.rs', import.meta.url), 'utf8')
  const rust = new Set([...source.matchAll(/Self::\w+ => (-\d+)/g)].map((match) => Number(match[1])))
  expect(rust.size).toBeGreaterThan(10)
  for (const number of Object.values(code)) expect(rust).toContain(number)
})
