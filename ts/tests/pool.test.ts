import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadConfig } from '../src/config/load.ts'
import { nodeConfig } from '../src/nodeConfig.ts'
import { runProgram } from './node.ts'

const addon = fileURLToPath(new URL('../src/native/rhizome.node', import.meta.url))
const step = fileURLToPath(new URL('./poolStep.mjs', import.meta.url))

test('fault: workers end while the pool works for them', { timeout: 120_000 }, async () => {
  const config = await nodeConfig(loadConfig({ settings: { ephemeral: true, rpc: { maxWaiting: 10_000 } } }))
  const { code, output, errors } = await runProgram([step, addon, config])
  const lines = output.split('\n').sort()
  expect({ code, errors, lines }).toEqual({ code: 0, errors: '', lines: ['', '-32602', '4000', 'thrown'] })
})
