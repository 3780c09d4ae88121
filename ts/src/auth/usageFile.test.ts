import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readUsage, UsageFile } from './usageFile.ts'

const folder = mkdtempSync(join(tmpdir(), 'rhizome-test-'))
let files = 0
const fresh = () => join(folder, `${files++}`, 'usage.json')
const never = (error: Error) => {
  throw error
}
const one = { app: 'a', requests: 2, units: 30, errors: 1, refused: 3 }
const noon = Date.UTC(2026, 10, 30, 12)
const hour = 3_600_000

test('behavior: counts by UTC day and month, and is read as it was written', async () => {
  const path = fresh()
  const file = await UsageFile.open(path, never)
  expect(await file.add([one, { ...one, app: 'b' }], noon)).toEqual([
    { day: 30, month: 30 },
    { day: 30, month: 30 },
  ])
  expect(await file.add([one], noon + 11.99 * hour)).toEqual([{ day: 60, month: 60 }])
  expect(await file.add([{ ...one, requests: 0, units: 0, errors: 0, refused: 0 }], noon + 12 * hour)).toEqual([
    { day: 0, month: 0 },
  ])
  expect(await file.add([one], noon + 12 * hour)).toEqual([{ day: 30, month: 30 }])
  await file.close()
  const [read] = await readUsage(path)
  expect(read).toMatchObject({
    app: 'a',
    days: { '2026-11-30': { requests: 4, units: 60, errors: 2, refused: 6 }, '2026-12-01': { units: 30 } },
    months: { '2026-11': { units: 60 }, '2026-12': { units: 30 } },
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const again = await UsageFile.open(path, never)
  expect(await again.add([one], noon)).toEqual([{ day: 90, month: 90 }])
  await again.close()
})

test('behavior: writes only changes, and only with a path', async () => {
  const path = fresh()
  const file = await UsageFile.open(path, never)
  await file.add([{ ...one, requests: 0, units: 0, errors: 0, refused: 0 }], noon)
  await file.close()
  expect(await readUsage(path)).toEqual([])
  const nowhere = await UsageFile.open(null, never)
  expect(await nowhere.add([one], noon)).toEqual([{ day: 30, month: 30 }])
  await nowhere.close()
})

test('behavior: old periods are forgotten', async () => {
  const file = await UsageFile.open(null, never)
  for (let day = 0; day < 800; day++) await file.add([one], noon + day * 24 * hour)
  const [report] = await file.report()
  const days = Object.keys(report?.days ?? {}).sort()
  expect([days.length, days[0], days.at(-1)]).toEqual([62, '2028-12-07', '2029-02-06'])
  expect(Object.keys(report?.months ?? {})).toHaveLength(24)
})

test('error: a damaged file is renamed', async () => {
  for (const content of ['', '{}', '[]', '{"version":1,"apps":[{"app":"a","days":{"today":{}},"months":{}}]}']) {
    const path = fresh()
    const file = await UsageFile.open(path, never)
    await file.add([one], noon)
    await file.close()
    writeFileSync(path, content)
    const problems: string[] = []
    const next = await UsageFile.open(path, ({ message }) => problems.push(message))
    expect(problems).toEqual([expect.stringMatching(/usage\.json: is damaged.*usage\.json\.damaged-\d+/)])
    expect(await next.report()).toEqual([])
    const [aside = ''] = readdirSync(join(path, '..')).filter((name) => name.includes('damaged'))
    expect(readFileSync(join(path, '..', aside), 'utf8')).toBe(content)
  }
})

test('error: an unwritable folder is reported, and no counts are lost', async () => {
  const path = join(fresh(), 'deeper')
  writeFileSync(join(folder, 'file'), '')
  const problems: string[] = []
  const file = await UsageFile.open(null, never)
  await file.close()
  const broken = await UsageFile.open(path, ({ message }) => problems.push(message))
  writeFileSync(join(folder, `${files - 1}`), '')
  await broken.add([one], noon)
  await broken.close()
  await broken.close()
  expect(problems).toEqual([expect.stringMatching(/deeper: cannot be written \([A-Z]+\)$/)])
  expect(await broken.add([one], noon)).toEqual([{ day: 60, month: 60 }])
})
