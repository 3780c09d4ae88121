import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { freePort } from './freePort.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from './testDisk.ts'

// A disk that becomes full while a node synchronizes: the node says so, keeps its peer, and resumes when there is room.

const blocks = 1500
const minute = 60_000
const folder = scratchFolder()
const nodes: NodeProcess[] = []

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  rmSync(folder, { recursive: true, force: true })
})

async function start(flags: string[], disk?: TestDisk): Promise<NodeProcess> {
  const settings = 'storage.writeBufferMegabytes = 1\nstorage.cacheMegabytes = 8\nstorage.trieMegabytes = 8\n'
  const port = await freePort()
  const p2p = ['--p2p-host', '127.0.0.1', '--p2p-port', `${port}`, '--discovery', 'off', '--mining', 'off']
  const node = await NodeProcess.start([...p2p, ...flags], settings, disk)
  nodes.push(node)
  return node
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + minute
  while (!(await isThere())) {
    if (Date.now() > end) throw new Error(`waited for ${what}`)
    await sleep(50)
  }
}

async function reasons(node: NodeProcess): Promise<string> {
  const health = (await (await fetch(`${node.url}/health`)).json()) as { reasons: string[] }
  return health.reasons.join('; ')
}

const obstacle = testDiskObstacle()

test.skipIf(obstacle !== undefined).for([
  ['heals while the node runs', false],
  ['heals after the node was killed', true],
] as const)('error: a disk that is full during a synchronization %s', { timeout: 5 * minute }, async ([, isKilled]) => {
  const library = buildTestDisk(folder)
  const source = await start(['--ephemeral'])
  for (let count = 0; count < blocks; count += 50) {
    const batch = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'evm_mine', params: [] }))
    expect((await source.post(JSON.stringify(batch))).status).toBe(200)
  }
  const head = await source.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const { enode } = await source.result<{ enode: string }>('admin_nodeInfo')
  const data = join(folder, `${isKilled}`)
  const disk = new TestDisk(library, data)
  let node = await start(['--data-dir', data], disk)
  const number = async () => Number(await node.result('eth_blockNumber'))
  disk.fail('ENOSPC', 30)
  await node.result('admin_addPeer', [enode])
  await until('the failure', async () => (await reasons(node)).includes('the synchronization has stopped'))
  const stopped = await number()
  expect(stopped).toBeLessThan(blocks)
  expect(await node.result('net_peerCount')).toBe('0x1')
  expect(await node.result('sco_bannedAddresses')).toEqual([])
  if (isKilled) await node.stop('SIGKILL')
  disk.heal()
  if (isKilled) node = await start(['--data-dir', data, '--peers', enode], disk)
  expect(await number()).toBeGreaterThanOrEqual(stopped)
  await until('the head', async () => {
    const own = await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    return own.hash === head.hash
  })
  await until('health', async () => (await reasons(node)) === '')
  await expect.poll(() => node.result('eth_syncing'), { timeout: 10_000 }).toBe(false)
  expect(await node.stop()).toBe(0)
  const flags = ['--data-dir', data, '--from', '0', '--to', `${blocks}`, '--state', '--json']
  const verified = await runCommand(['verify', ...flags])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  expect(JSON.parse(verified.output)).toMatchObject({ difference: null })
})
