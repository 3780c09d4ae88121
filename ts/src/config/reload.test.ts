import { expect, test } from 'vitest'
import { leaves } from './leaves.ts'
import { loadConfig } from './load.ts'
import { liveSettings, reload } from './reload.ts'

test('behavior: limits are taken over, the rest waits for a restart', () => {
  const running = loadConfig({})
  const fresh = loadConfig({
    settings: {
      rpc: { timeoutMs: 7, callGasCap: 30_000 },
      log: { level: 'debug' },
      modules: { evm: { enabled: false } },
    },
  })
  const { config, changed, waiting } = reload(running, fresh)
  expect(changed).toEqual(['rpc.timeoutMs', 'log.level'])
  expect(waiting).toEqual(['rpc.callGasCap', 'modules'])
  expect(config.rpc).toEqual({ ...running.rpc, timeoutMs: 7 })
  expect(config.log.level).toBe('debug')
  expect(config.modules).toEqual({})
  expect(running).toEqual(loadConfig({}))
})

test('behavior: the same configuration changes nothing', () => {
  expect(reload(loadConfig({}), loadConfig({}))).toMatchObject({ changed: [], waiting: [] })
})

test('behavior: every setting that is taken over exists', () => {
  const paths = leaves.map(({ path }) => path)
  expect(liveSettings.filter((path) => !paths.includes(path))).toEqual([])
})
