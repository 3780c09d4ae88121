import { expect, test } from 'vitest'
import { hexText } from './hexText.ts'

test('behavior: accepts the exact number of digits of any case behind 0x', () => {
  const pattern = hexText(4)
  for (const text of ['0x0000', '0x09af', '0xAF90']) expect(pattern.test(text)).toBe(true)
  for (const text of ['', '0x', '0x000', '0x00000', '0X0000', '0000', '0x000g', ' 0x0000', '0x0000\n', '0x0x00'])
    expect(pattern.test(text)).toBe(false)
})
