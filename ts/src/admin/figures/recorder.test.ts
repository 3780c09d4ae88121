import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Counters } from '../../observe/counters.ts'
import { takeSample } from '../../observe/history.ts'
import { FigureFiles } from './files.ts'
import { FigureRecorder } from './recorder.ts'

const nowMs = () => 1_700_000_000_000
const uses = (app: string, requests: number) => [{ app, methods: [{ method: 'a', requests, errors: 1 }] }]

describe('FigureRecorder', () => {
  let folder: string
  const problems: string[] = []
  const open = () => new FigureRecorder(new FigureFiles(folder), ({ message }) => problems.push(message), nowMs)

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'rhizome-figures-')), 'figures')
    problems.length = 0
  })
  afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

  test('behavior: requests are counted once, and figures survive a restart', async () => {
    const counters = new Counters(['a', 'b'])
    const first = open()
    counters.count('a', 1, undefined)
    first.take(takeSample([counters], 0, 0))
    counters.count('a', 1, -32000)
    counters.count('b', 1, undefined)
    first.take(takeSample([counters], 0, 1))
    first.take(takeSample([counters], 0, 2))
    await first.stop()
    const { methods, stepSeconds, fromSeconds } = await open().report('node', 'hour')
    const last = methods.map(({ method, requests, errors }) => [method, requests.at(-1), errors.at(-1)])
    expect(last).toEqual([
      ['all', 3, 1],
      ['a', 2, 1],
      ['b', 1, 0],
    ])
    expect(methods[0]?.p99Ms.at(-1)).toBeCloseTo(1, 0)
    expect(stepSeconds).toBe(60)
    expect(fromSeconds).toBe((Math.floor(nowMs() / 60_000) - 59) * 60)
  })

  test('behavior: each app has a file; the sum of two runs is shown', async () => {
    for (let run = 0; run < 2; run++) {
      const recorder = open()
      recorder.takeApps([...uses('shop', 5), ...uses('dex', 1)])
      await recorder.stop()
    }
    const { methods } = await open().report({ app: 'shop' }, 'month')
    expect(methods.map(({ method, requests, errors }) => [method, requests.at(-1), errors.at(-1)])).toEqual([
      ['all', 10, 2],
      ['a', 10, 2],
    ])
    expect((await open().report({ app: 'nobody' }, 'month')).methods).toEqual([])
    expect(readdirSync(folder).sort()).toEqual(['app-dex.json', 'app-shop.json'])
  })

  test('error: a damaged file is reported and counting starts again', async () => {
    const first = open()
    first.takeApps(uses('shop', 5))
    await first.stop()
    const damaged = [
      '{',
      '{}',
      '{"version":1,"ranges":{"hour":{"a":{"points":[[2,1,0,null,null],[1,1,0,null,null]],"classes":[]}},"day":{},"month":{}}}',
    ]
    for (const text of damaged) {
      writeFileSync(join(folder, 'app-shop.json'), text)
      expect((await open().report({ app: 'shop' }, 'hour')).methods).toEqual([])
      expect(problems.pop()).toMatch(/app-shop\.json: is damaged/)
    }
  })

  test('error: unwritable figures are reported once and written later', async () => {
    writeFileSync(folder, '')
    const recorder = open()
    recorder.takeApps(uses('shop', 5))
    await recorder.save()
    await recorder.save()
    expect(problems.filter((problem) => problem.includes('cannot be written'))).toHaveLength(1)
    rmSync(folder)
    await recorder.stop()
    expect((await open().report({ app: 'shop' }, 'hour')).methods[0]?.requests.at(-1)).toBe(5)
  })

  test('behavior: files of apps are bounded, those written longest ago go first', async () => {
    const files = new FigureFiles(folder)
    for (const app of ['one', 'two', 'three']) {
      await files.write({ app }, { hour: {}, day: {}, month: {} })
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await files.write('node', { hour: {}, day: {}, month: {} })
    await files.keepAtMost(2)
    expect(readdirSync(folder).sort()).toEqual(['app-three.json', 'app-two.json', 'node.json'])
  })
})
