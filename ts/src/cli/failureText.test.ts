import { expect, test } from 'vitest'
import { failureText } from './failureText.ts'

const word = (value: number) => value.toString(16).padStart(64, '0')

test('behavior: reason, panic, custom error, halt', () => {
  expect(failureText({ error: 'execution reverted', revertReason: 'unlucky', output: '0x08c379a0' })).toBe(
    'revert unlucky',
  )
  expect(failureText({ output: `0x4e487b71${word(0x11)}` })).toBe('panic 0x11 (arithmetic overflow or underflow)')
  expect(failureText({ output: `0x4e487b71${word(0x99)}` })).toBe('panic 0x99 (unknown code)')
  expect(failureText({ output: '0x2bbdbc26' })).toBe('revert with custom error 0x2bbdbc26')
  expect(failureText({ error: 'out of gas' })).toBe('out of gas')
  expect(failureText({ error: 'execution reverted', output: '0x' })).toBe('execution reverted')
  expect(failureText(null)).toBe('failed')
})

test('behavior: a reason cannot steer the terminal, nor fill it', () => {
  expect(failureText({ revertReason: 'a\u001b[2Jb\nc\u009bd\u202ee' })).toBe('revert a?[2Jb?c?d?e')
  expect(failureText({ revertReason: 'x'.repeat(10_000) })).toBe(`revert ${'x'.repeat(200)}...`)
  expect(failureText({ output: `0x2bbdbc26${'ab'.repeat(10_000)}` })).toHaveLength(
    'revert with custom error '.length + 203,
  )
})
