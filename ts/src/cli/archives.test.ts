import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Addon } from '../native/bindings.ts'
import { importArchives } from './archives.ts'

const lines: [unknown, string][] = []
vi.mock('../observe/log.ts', () => {
  const line = (members: unknown, text: string) => lines.push([members, text])
  return { createLogger: () => ({ info: line, warn: line, error: line }) }
})

beforeEach(() => {
  lines.length = 0
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

type Import = Addon['importArchives']

function run(importing: Import): Promise<void> {
  const locations = ['https://user:secret@a.example/b?token=c', '/folder']
  return importArchives({ importArchives: importing } as Addon, { locations, trust: '' }, 'info')
}

test('behavior: archives that send no block are named once, without secrets', async () => {
  let onProgress: Parameters<Import>[2] = () => undefined
  let end: (counts: string) => void = () => undefined
  const imported = run((_locations, _trust, report) => {
    onProgress = report
    return new Promise((resolve) => {
      end = resolve
    })
  })
  const silent = [
    { locations: ['https://a.example/b', '/folder'], seconds: 30 },
    expect.stringContaining('tried again'),
  ]
  await vi.advanceTimersByTimeAsync(200_000)
  expect(lines).toEqual([silent])
  onProgress(null, '{"number":1,"hash":"0x1"}')
  await vi.advanceTimersByTimeAsync(200_000)
  expect(lines.filter(([members]) => JSON.stringify(members).includes('locations'))).toEqual([silent, silent])
  lines.length = 0
  end('{"blocks":2,"head":2,"refused":[]}')
  await imported
  await vi.advanceTimersByTimeAsync(200_000)
  expect(lines).toEqual([[{ blocks: 2, head: 2 }, 'archives imported']])
})

test('behavior: an import that was stopped before the last block is not called complete', async () => {
  await run(async () => '{"blocks":2,"head":2,"last":9,"refused":[]}')
  expect(lines).toEqual([[{ blocks: 2, head: 2, last: 9 }, 'the import from archives was stopped']])
})
