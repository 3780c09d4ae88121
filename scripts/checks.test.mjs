import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { allowedLicenses, isAllowed, npmProblems } from './check-dependencies.mjs'
import { actionProblems, imageProblems } from './check-pins.mjs'
import { checkWheel } from './setup/libclang.mjs'

const allowed = ['MIT', 'Apache-2.0', 'Apache-2.0 WITH LLVM-exception', 'Unicode-3.0']

test.each([
  ['MIT', true],
  ['MIT/GPL-3.0', true],
  ['GPL-3.0', false],
  ['MIT AND GPL-3.0', false],
  ['(MIT OR GPL-3.0) AND Unicode-3.0', true],
  ['(GPL-2.0 OR GPL-3.0) AND Unicode-3.0', false],
  ['GPL-2.0 WITH Classpath-exception-2.0 OR MIT', true],
  ['Apache-2.0 WITH LLVM-exception', true],
  ['MIT WITH LLVM-exception', false],
  ['MIT GPL-3.0', false],
  ['', false],
  [undefined, false],
])('behavior: the licence %j is allowed: %j', (expression, expected) => {
  expect(isAllowed(expression, allowed)).toBe(expected)
})

test('behavior: the list of licences is read from deny.toml, without comments', () => {
  expect(allowedLicenses('[licenses]\nallow = [\n  "MIT",\n  # "GPL-3.0",\n  "ISC",\n]\n[bans]\n')).toEqual([
    'MIT',
    'ISC',
  ])
})

test('error: an npm package without a hash, from elsewhere or with another licence', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/good': { version: '1.0.0', integrity: 'sha512-x', license: 'MIT' },
      'node_modules/tool': { version: '1.0.0', integrity: 'sha512-x', license: 'GPL-3.0', dev: true },
      'node_modules/bare': { version: '1.0.0', license: 'MIT' },
      'node_modules/git': { version: '1.0.0', integrity: 'sha512-x', license: 'MIT', resolved: 'git+ssh://example' },
      'node_modules/closed': { version: '1.0.0', integrity: 'sha512-x', license: 'GPL-3.0' },
    },
  }
  expect(npmProblems('lock', JSON.stringify(lock), allowed)).toEqual([
    'lock: node_modules/bare 1.0.0: has no SHA-512 in the lock file',
    "lock: node_modules/git 1.0.0: comes from git+ssh://example, not from npm's registry",
    'lock: node_modules/closed 1.0.0: deny.toml does not allow GPL-3.0',
  ])
})

const commit = 'a'.repeat(40)
test.each([
  [`      - uses: actions/checkout@${commit} # v4.2.2`, 0],
  [`      - uses: actions/checkout@${commit}`, 1],
  ['      - uses: actions/checkout@v4', 1],
  ['        uses: owner/name/sub@main', 1],
])('behavior: the action in %j', (line, count) => {
  expect(actionProblems('release.yml', `${line}\n`)).toHaveLength(count)
})

const digest = `sha256:${'b'.repeat(64)}`
test.each([
  ['FROM node:24\n', 1],
  [`FROM --platform=linux/amd64 node:24@${digest} AS base\nFROM base\nCOPY --from=base /a /a\n`, 0],
  [`FROM node:24@${digest}\nCOPY --from=rust:1.95 /a /a\n`, 1],
  [`FROM node:24@${digest} AS base\nRUN --mount=type=bind,from=base,source=/a,target=/a true\n`, 0],
  ['  cache:\n    image: valkey/valkey:8\n', 1],
  [`    container: node:24@${digest}\n`, 0],
  ['    container: node:24\n', 1],
  [`    container: \${{ matrix.image }}\n`, 0],
])('behavior: images in %j', (text, count) => {
  expect(imageProblems('file', text)).toHaveLength(count)
})

test('error: a wheel of libclang with another content, or for a platform that has no hash', () => {
  expect(createHash('sha256').update('').digest('hex')).toMatch(/^e3b0/)
  for (const name of [
    'libclang-18.1.1-py2.py3-none-manylinux2010_x86_64.whl',
    'libclang-18.1.1-py2.py3-none-any.whl',
  ]) {
    expect(() => checkWheel(name, Buffer.from(''))).toThrow(/is not the pinned file \(SHA-256 e3b0/)
  }
})
