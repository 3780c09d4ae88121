import { expect, test } from 'vitest'
import { isParsedTooDeep, isTooDeep } from './levels.ts'

const nested = (levels: number, content = '') => `${'['.repeat(levels)}${content}${']'.repeat(levels)}`

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each([
  ['64 levels', nested(64), false],
  ['65 levels', nested(65), true],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, true],
  ['65 levels below a name of the prototype', `${'{"__proto__":'.repeat(65)}1${'}'.repeat(65)}`, true],
  ['65 levels, lists and objects in turn', `${'[{"a":'.repeat(33)}1${'}]'.repeat(33)}`, true],
  ['65 levels in a member that is replaced', `{"a":${nested(64)},"a":1}`, true],
  ['65 levels behind shorter ones', `[${Array(100).fill('[{}]').join(',')},${nested(64)}]`, true],
  ['as many levels as a small body has', nested(32_000), true],
  ['many levels beside each other', `[${Array(100).fill('[{}]').join(',')}]`, false],
  ['openings in a text', `["${'['.repeat(200)}"]`, false],
  ['openings in a text behind escapes', `["${'\\\\\\"['.repeat(200)}"]`, false],
  ['a text that ends behind an escaped backslash', `["\\\\",${nested(64, '1')}]`, true],
  ['levels without end', '['.repeat(1000), false],
  ['a text without end', `[${nested(100)},"`, false],
])('behavior: %s', (_name, text, expected) => {
  expect(isTooDeep(text)).toBe(expected)
  if (isJson(text)) expect(isParsedTooDeep(text, JSON.parse(text))).toBe(expected)
})
