import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCommand, scratchFolder } from './node.ts'

// Faults that keep a node from listening for peers: the start ends with a message that names the cause.

const folder = scratchFolder()
const server = createServer().listen(0, '127.0.0.1')

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function usedPort(): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  return `${(server.address() as { port: number }).port}`
}

function start(data: string, port: string) {
  const p2p = ['--p2p-host', '127.0.0.1', '--p2p-port', port, '--discovery', 'off']
  return runCommand(['start', '--http-port', '0', '--data-dir', data, ...p2p])
}

test('error: a port for peers that another program uses', async () => {
  const { code, errors } = await start(join(folder, 'port'), await usedPort())
  expect([code, errors]).toEqual([1, expect.stringContaining('cannot listen for peers on 127.0.0.1')])
})

test('error: a node key that cannot be read, or is none', async () => {
  const [unreadable, wrong] = ['unreadable', 'wrong'].map((name) => join(folder, name)) as [string, string]
  mkdirSync(join(unreadable, 'nodekey'), { recursive: true })
  mkdirSync(wrong)
  writeFileSync(join(wrong, 'nodekey'), 'secret words\n')
  for (const data of [unreadable, wrong]) {
    const { code, errors } = await start(data, '50777')
    expect([code, errors]).toEqual([1, expect.stringContaining(`node key ${join(data, 'nodekey')}`)])
    expect(errors).not.toContain('secret words')
  }
})
