import { describe, expect, test } from 'vitest'
import type { ConfigError } from './config/error.ts'
import { type StateFlags, stateFilesOf } from './stateFiles.ts'

const problems = (flags: StateFlags, isAllowed = true, hasDataDir = false): readonly string[] => {
  try {
    stateFilesOf(flags, isAllowed, hasDataDir)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

describe('stateFilesOf', () => {
  test('behavior: files and interval', () => {
    expect(stateFilesOf({}, false, true)).toEqual({ load: undefined, save: undefined, intervalSeconds: undefined })
    expect(stateFilesOf({ state: 'a', stateInterval: '5' }, true, false)).toEqual({
      load: 'a',
      save: 'a',
      intervalSeconds: 5,
    })
    expect(stateFilesOf({ loadState: 'a', dumpState: 'b' }, true, false)).toMatchObject({ load: 'a', save: 'b' })
    expect(problems({ dumpState: 'b' }, true, true)).toEqual([])
  })

  test('error: flags that do not fit', () => {
    expect(problems({ state: 'a' }, false)).toEqual([
      '--state: only for development networks, not for forks and fleets',
    ])
    expect(problems({ state: 'a', dumpState: 'b' })).toEqual(['--state: cannot be combined with --dump-state'])
    expect(problems({ loadState: 'a' }, true, true)[0]).toContain('--load-state: cannot be combined with --data-dir')
    expect(problems({ loadState: 'a', stateInterval: '5' })).toEqual([
      '--state-interval: needs --state or --dump-state',
    ])
    for (const stateInterval of ['0', '-1', '1.5', 'x', '']) {
      expect(problems({ state: 'a', stateInterval })[0]).toContain('--state-interval: expected seconds')
    }
  })
})
