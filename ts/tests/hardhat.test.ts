import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { HostedNode } from './conformance/hostedNode.ts'
import { Transcripts } from './conformance/transcript.ts'
import { NodeProcess, scratchFolder } from './node.ts'

// A project of its own beside this file, which knows the node as every Hardhat project knows its network.

const root = fileURLToPath(new URL('../..', import.meta.url))
const project = `${root}/ts/tests/hardhat/`
const hardhat = `${project}node_modules/hardhat/internal/cli/cli.js`
const patience = { timeout: 300_000 }

beforeAll(() => {
  if (!existsSync(hardhat)) throw new Error('no Hardhat: node scripts/setup.mjs --with-hardhat installs it')
})

/** Runs a command of Hardhat. `onLine` is told each line of its output; the result is all of it, with the exit code. */
async function run(url: string, command: string[], env = {}, onLine?: (line: string) => Promise<void>) {
  const child = spawn(process.execPath, [hardhat, '--config', `${project}hardhat.config.cjs`, ...command], {
    cwd: project,
    env: { ...process.env, CI: 'true', RPC_URL: url, HARDHAT_OUTPUT: scratchFolder(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    await onLine?.(line)
  }
  return { code: await code, lines, errors }
}

test('behavior: the tests of a project pass', patience, async () => {
  const node = await NodeProcess.start()
  const { code, lines, errors } = await run(node.url, ['test'])
  await node.stop()
  expect({ code, lines, errors }).toMatchObject({ code: 0, errors: '' })
  expect(lines.some((line) => line.includes('7 passing'))).toBe(true)
})

test('behavior: a project sees a reorganisation', patience, async () => {
  // Two branches: one of three blocks with two logs, and one of seven without logs that replaces it.
  const recordings = new Transcripts(`${root}/tests/vectors/rpc`)
  const replaced = recordings.blockLines('deep-reorg.replaced.blocks')
  const better = recordings.blockLines('deep-reorg.blocks').slice(1)
  const node = await HostedNode.start(root, { mining: 'off', http: { port: 0, workers: 1 }, log: { level: 'warn' } })
  const env = { WATCHED: '0x77045e71a7a2c50903d88e564cd72fab11e82051' }
  const watch = await run(node.url, ['run', '--no-compile', 'watch.mjs'], env, async (line) => {
    if (line === 'watching') for (const block of replaced) await node.importLines([block])
    if (line === 'filter 2 3') await node.importLines(better)
  })
  await node.stop()
  expect(watch).toMatchObject({ code: 0, errors: '' })
  const heads = [1, 2, 3, 1, 2, 3, 4, 5, 6, 7].map((number) => `head ${number}`)
  const seen = ['watching', ...heads, 'log 2', 'log 3', 'filter 2 3', 'filter -3 -2']
  expect(watch.lines.toSorted()).toEqual(seen.toSorted())
})
