import { expect, test } from 'vitest'
import { isTooDeep } from './levels.ts'

const nested = (levels: number, content = '') => `${'['.repeat(levels)}${content}${']'.repeat(levels)}`

test.each([
  ['64 levels', nested(64), false],
  ['65 levels', nested(65), true],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, true],
  ['65 levels below a name of the prototype', `${'{"__proto__":'.repeat(65)}1${'}'.repeat(65)}`, true],
  ['65 levels, lists and objects in turn', `${'[{"a":'.repeat(33)}1${'}]'.repeat(33)}`, true],
  ['many levels beside each other', `[${Array(100).fill('[{}]').join(',')}]`, false],
  ['65 levels behind shorter ones', `[${Array(100).fill('[{}]').join(',')},${nested(64)}]`, true],
  ['openings in a text', `["${'['.repeat(200)}"]`, false],
  ['as many levels as a small body has', nested(32_000), true],
])('behavior: %s', (_name, text, expected) => {
  expect(isTooDeep(JSON.parse(text), text)).toBe(expected)
})
