import { expect, test } from 'vitest'
import { bytes, count, latency, rate, shortHash, span } from './format.ts'

test.each([
  [count(0), '0'],
  [count(1_234_567), '1,234,567'],
  [rate(0), '0'],
  [rate(0.001), '< 0.01'],
  [rate(0.0444), '0.044'],
  [rate(9.96), '10'],
  [rate(1234.5), '1,235'],
  [latency(null), '–'],
  [latency(0.0512), '0.051 ms'],
  [latency(999), '1000 ms'],
  [latency(2345), '2.3 s'],
  [latency(10_000), '≥ 10 s'],
  [span(0), '0 s'],
  [span(119), '119 s'],
  [span(120), '2 min'],
  [span(7200), '2 h'],
  [span(172_800), '2 days'],
  [bytes(0), '0 B'],
  [bytes(999), '999 B'],
  [bytes(1536), '1.5 KB'],
  [bytes(113_000_000), '108 MB'],
  [bytes(5e15), '4547 TB'],
  [shortHash(`0x${'ab'.repeat(32)}`), '0xababab…ababab'],
])('%s is %s', (shown, expected) => expect(shown).toBe(expected))
