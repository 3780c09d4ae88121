import { expect, test } from 'vitest'
import { Pieces } from './pieces.ts'

test.each([
  ['single bytes', Array.from({ length: 20_000 }, () => 1)],
  ['growing', Array.from({ length: 300 }, (_none, index) => index * 7)],
  ['one large among small ones', [1, 2, 700_000, 3, 4]],
  ['none', []],
])('behavior: pieces are joined as they came: %s', (_name, sizes) => {
  const pieces = new Pieces()
  const sent = sizes.map((size, index) => Buffer.alloc(size, index % 251))
  let allocated = 0
  for (const piece of sent) {
    const expected = pieces.allocatedWith(piece.length)
    pieces.add(piece)
    expect(pieces.allocatedWith(0)).toBe(expected)
    expect(expected).toBeGreaterThanOrEqual(allocated)
    allocated = expected
  }
  const whole = Buffer.concat(sent)
  expect(pieces.length).toBe(whole.length)
  expect(pieces.joined().equals(whole)).toBe(true)
  expect(allocated).toBeLessThanOrEqual(Math.max(2 * whole.length, 4096 + whole.length))
})
