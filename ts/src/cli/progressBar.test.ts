import { expect, test } from 'vitest'
import { ProgressBar } from './progressBar.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const write = (text: string): boolean => {
    written.push(text.replace('\r\x1b[K', ''))
    return true
  }
  return { written, out: { isTTY, write } as never }
}

test('behavior: the line has progress, rate and remaining time', () => {
  const { written, out } = terminal(true)
  let ms = 0
  const bar = new ProgressBar(out, true, () => ms)
  for (const [at, done] of [
    [1000, 50],
    [1050, 55],
    [2000, 100],
    [20_000, 190],
  ] as const) {
    ms = at
    bar.show(`block ${done}`, done, 400)
  }
  ms = 21_000
  bar.show('state', 3, null, 'keys')
  ms = 22_000
  bar.show('state', 8, null, 'keys')
  bar.end()
  expect(written).toEqual([
    'block 50  50 of 400 blocks  50 blocks/s  7 s left',
    'block 100  100 of 400 blocks  50 blocks/s  6 s left',
    'block 190  190 of 400 blocks  5.0 blocks/s  42 s left',
    'state  3 keys',
    'state  8 keys  5.0 keys/s',
    '',
  ])
})

test('behavior: long times are shown in hours and minutes', () => {
  const { written, out } = terminal(true)
  let ms = 0
  const bar = new ProgressBar(out, true, () => ms)
  for (const total of [101, 7301]) {
    ms += 1000
    bar.show('x', ms / 1000, total)
  }
  expect(written).toEqual([
    'x  1 of 101 blocks  1.0 blocks/s  1 min 40 s left',
    'x  2 of 7301 blocks  1.0 blocks/s  2 h 1 min left',
  ])
})

test('behavior: prints nothing without a terminal, or if disabled', () => {
  for (const [isTTY, isWanted] of [
    [false, true],
    [true, false],
  ] as const) {
    const { written, out } = terminal(isTTY)
    const bar = new ProgressBar(out, isWanted)
    bar.show('block 1', 1, 2)
    bar.end()
    expect(written).toEqual([])
  }
})
