import { describe, expect, test } from 'vitest'
import { byteLength, LongAnswer, sharedText, wholeMessage } from './longAnswer.ts'

const pieces = ['[', '"é"', ',', Buffer.from('"bytes"'), ']']
const text = '["é","bytes"]'

describe('LongAnswer', () => {
  test('counts bytes, not characters', () => {
    expect(new LongAnswer(pieces).length).toBe(Buffer.byteLength(text))
    expect(byteLength('é')).toBe(2)
  })

  test('copies any part from any offset, also backwards and within a character', () => {
    const answer = new LongAnswer(pieces)
    const bytes = Buffer.from(text)
    for (const size of [1, 2, 3, 100]) {
      for (let offset = bytes.length; offset >= 0; offset--) {
        const target = Buffer.alloc(size)
        const copied = answer.copy(offset, target)
        expect(target.subarray(0, copied)).toEqual(bytes.subarray(offset, offset + size))
      }
    }
  })

  test('names its pieces outside of the heap', () => {
    expect(new LongAnswer(pieces).buffers).toEqual([pieces[3]])
  })

  test('joins to text if all pieces are text', async () => {
    const memory = Buffer.alloc(1000)
    for (const one of [Buffer.alloc(0), memory]) expect(new LongAnswer(pieces).whole(one)).toEqual(Buffer.from(text))
    expect(memory.subarray(0, byteLength(text))).toEqual(Buffer.from(text))
    expect(new LongAnswer(['a', 'b']).whole(memory)).toBe('ab')
    expect(wholeMessage('ab')).toBe('ab')
    expect(Buffer.concat(await new LongAnswer([Buffer.from('a'), Buffer.from('b')]).toStream().toArray())).toEqual(
      Buffer.from('ab'),
    )
  })
})

test('shared text is that text, in memory that cannot be freed by detaching it', () => {
  const shared = sharedText(text)
  expect(shared).toEqual(Buffer.from(text))
  expect(() => structuredClone(undefined, { transfer: [shared.buffer as unknown as ArrayBuffer] })).toThrow()
})
