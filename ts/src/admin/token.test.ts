import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError } from '../config/error.ts'
import { hashOfToken } from './admission.ts'
import { readToken } from './token.ts'

const tokenFile = join(mkdtempSync(join(tmpdir(), 'rhizome-test-')), 'token')
const settings = { enabled: true, host: '0.0.0.0', port: 0, hosts: [], tokenFile }

test('behavior: one word, whatever stands around it', () => {
  writeFileSync(tokenFile, `  ${'x'.repeat(24)}\n`)
  expect(readToken(settings)).toEqual(hashOfToken('x'.repeat(24)))
})

test.each([
  '',
  '\n',
  'x'.repeat(23),
  'two words that are long enough',
  `${'x'.repeat(30)}\n${'y'.repeat(30)}`,
  'ü'.repeat(30),
])('error: no token, case %#', (content) => {
  writeFileSync(tokenFile, content)
  expect(() => readToken(settings)).toThrow(ConfigError)
  expect(() => readToken(settings)).toThrow(/^admin\.tokenFile: \S+: expected one word of 24 characters or more$/)
})

test('error: a file that is not there', () => {
  expect(() => readToken({ ...settings, tokenFile: `${tokenFile}.none` })).toThrow(/cannot be read \(ENOENT\)/)
})

test('behavior: without a file only loopback is served', () => {
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    expect(readToken({ ...settings, host, tokenFile: '' })).toBeUndefined()
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org']) {
    expect(() => readToken({ ...settings, host, tokenFile: '' })).toThrow(/machines can reach .*: set admin\.tokenFile/)
  }
})
