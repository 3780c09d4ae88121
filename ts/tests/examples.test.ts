import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

const folder = fileURLToPath(new URL('../../docs/examples/', import.meta.url))
const scripts = readdirSync(folder).filter((name) => name.endsWith('.mjs') && name !== 'compile.mjs')

describe('examples', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(() => node?.stop())

  test.each(scripts)('behavior: docs/examples/%s', async (name) => {
    const child = spawn(process.execPath, [folder + name, node.url], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        output += bytes
      })
    }
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, output]).toEqual([0, expect.stringContaining('deployed at 0x')])
  })
})
