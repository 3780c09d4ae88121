import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import { Programs } from './programs.mjs'

const known = [`0x${'11'.repeat(20)}`]

function programs(seed) {
  const made = new Programs(new Random(seed), known)
  return Array.from({ length: 50 }, () => [made.init(), made.contract(), made.input()])
}

test('behavior: equal seeds give equal programs, different seeds different ones', () => {
  expect(programs(7)).toEqual(programs(7))
  expect(programs(7)).not.toEqual(programs(8))
})

test('behavior: programs are bytes, with every way to call, create and end among them', () => {
  const bytes = programs(7).flat(2)
  expect(bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)).toBe(true)
  for (const instruction of [0x55, 0x57, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xfa, 0xfd, 0xfe, 0xff]) {
    expect(bytes).toContain(instruction)
  }
})
