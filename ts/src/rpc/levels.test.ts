import { expect, test } from 'vitest'
import { isTooDeep } from './levels.ts'

const nested = (levels: number, content = '') => `${'['.repeat(levels)}${content}${']'.repeat(levels)}`

test.each([
  ['64 levels', nested(64), false],
  ['65 levels', nested(65), true],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, true],
  ['many levels beside each other', `[${Array(100).fill('[{}]').join(',')}]`, false],
  ['openings in a text', `["${'['.repeat(200)}"]`, false],
  ['openings in a text behind escapes', `["${'\\\\\\"['.repeat(200)}"]`, false],
  ['a text that ends behind an escaped backslash', `["\\\\",${nested(64, '1')}]`, true],
  ['levels without end', '['.repeat(1000), false],
  ['a text without end', `[${nested(100)},"`, false],
])('behavior: %s', (_name, text, expected) => {
  expect(isTooDeep(text)).toBe(expected)
})
