import { join } from 'node:path'
import { expect } from 'vitest'
import type { Random } from '../../src/compare/random.ts'
import { NodeProcess, runCommand } from '../node.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from '../testDisk.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// The disk of a serving node becomes full, or fails, at any write: writers get an error, reads continue, /health has the
// reason, and when the disk accepts writes again, so does the node. No acknowledged write is lost, and no refused transaction is mined.

const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const receiver = '0x00000000000000000000000000000000000000fe'
const unwritable = -32002
/** A small write buffer, so that files are written and compacted within some blocks. */
const settings = 'storage.writeBufferMegabytes = 1\nstorage.cacheMegabytes = 8\nstorage.trieMegabytes = 8\n'
/** Number of writes that may succeed although the disk is full, because they fit into allocated blocks. */
const patience = 300
const recoveryMs = 60_000

export const torture: TortureCase = {
  obstacle: testDiskObstacle,
  prepare: (folder) => {
    const library = buildTestDisk(folder)
    return { round: (round) => failDisk(round, library) }
  },
}

async function failDisk({ random, folder }: Round, library: string): Promise<void> {
  const data = join(folder, 'data')
  const disk = new TestDisk(library, data)
  const flags = ['--data-dir', data]
  let node = await NodeProcess.start(flags, settings, disk)
  const sent = new Transfers()
  for (let faults = 1 + random.below(3); faults > 0; faults--) {
    for (let count = random.below(5); count > 0; count--) expect(await sent.send(node, random)).toBe(true)
    const error = random.pick(['ENOSPC', 'EIO'] as const)
    // Sometimes only a few calls fail.
    const isPassing = random.below(4) === 0
    disk.fail(error, 1 + random.below(40), isPassing ? 1 + random.below(3) : undefined)
    const most = isPassing ? 60 : patience
    let attempts = 0
    while (attempts < most && (await sent.send(node, random))) attempts++
    if (!isPassing) {
      expect(attempts).toBeLessThan(patience)
      await expectRefusals(node, error, sent)
    }
    if (random.below(4) === 0) {
      // Killed while it cannot write.
      await node.stop('SIGKILL')
      disk.heal()
      node = await NodeProcess.start(flags, settings, disk)
    }
    disk.heal()
    await expectReady(node)
    await sent.expectAll(node)
  }
  expect(await sent.send(node, random)).toBe(true)
  await sent.expectAll(node)
  const head = Number(await node.result('eth_blockNumber'))
  expect(await node.stop()).toBe(0)
  const verified = await runCommand(['verify', '--from', '0', '--to', `${head}`, '--state', '--json', ...flags])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  expect(JSON.parse(verified.output)).toMatchObject({ difference: null })
}

/** Transfers that were sent to a node. */
class Transfers {
  readonly #acknowledged: string[] = []
  /** Whether a failed write may be found later: after a failed sync of the log that is undefined. */
  #refused = 0

  /** Mines a block of one transfer, with some bytes so that files fill. Returns whether it was accepted. */
  async send(node: NodeProcess, random: Random): Promise<boolean> {
    const data = random.hex(2000)
    const transfer = { from: sender, to: receiver, value: '0x1', gas: '0x30000', data }
    const { status, body } = await node.post(request('eth_sendTransaction', [transfer]))
    const { result, error } = body as { result?: string; error?: { code: number; message: string } }
    if (result !== undefined) {
      this.#acknowledged.push(result)
      return true
    }
    this.#refused++
    expect(error).toEqual({ code: unwritable, message: expect.stringMatching(/^The node cannot write: /) })
    expect(status).toBe(503)
    return false
  }

  get last(): string | undefined {
    return this.#acknowledged.at(-1)
  }

  /** Checks that each acknowledged transfer has a receipt, and that the recipient has the sum. */
  async expectAll(node: NodeProcess): Promise<void> {
    for (const hash of this.#acknowledged.slice(-50))
      expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    const received = Number(await node.result('eth_getBalance', [receiver, 'latest']))
    const count = this.#acknowledged.length
    expect([received, received >= count && received <= count + this.#refused]).toEqual([received, true])
    const nonces = ['latest', 'pending'].map((block) => node.result('eth_getTransactionCount', [sender, block]))
    const [mined, pending] = await Promise.all(nonces)
    // No refused transaction is in the pool.
    expect(pending).toBe(mined)
  }
}

async function expectRefusals(node: NodeProcess, error: 'ENOSPC' | 'EIO', sent: Transfers): Promise<void> {
  const health = await fetch(`${node.url}/health`)
  const { reasons } = (await health.json()) as { reasons: string[] }
  const reason = error === 'ENOSPC' ? 'no space left on its disk' : 'its disk fails'
  expect([health.status, reasons]).toEqual([503, [`the node cannot write: ${reason}`]])
  const writers: [string, unknown[]][] = [
    ['evm_mine', []],
    ['hardhat_setBalance', [receiver, '0x0']],
    ['personal_newAccount', ['secret']],
  ]
  for (const [method, params] of writers) {
    const answer = await node.ask(method, params)
    expect([method, answer.error]).toEqual([method, { code: unwritable, message: `The node cannot write: ${reason}` }])
  }
  // Reads continue.
  expect(Number(await node.result('eth_blockNumber'))).toBeGreaterThanOrEqual(0)
  if (sent.last !== undefined)
    expect(await node.result('eth_getTransactionReceipt', [sent.last])).toMatchObject({ status: '0x1' })
  expect(await node.result('eth_getBalance', [sender, 'latest'])).toMatch(/^0x/)
}

async function expectReady(node: NodeProcess): Promise<void> {
  const end = Date.now() + recoveryMs
  for (;;) {
    const health = await fetch(`${node.url}/health`)
    if (health.status === 200) return
    if (Date.now() > end) throw new Error(`not ready: ${await health.text()}\n${node.errors}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function request(method: string, params: unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}
