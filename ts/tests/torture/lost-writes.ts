import { join } from 'node:path'
import { expect } from 'vitest'
import type { Random } from '../../src/compare/random.ts'
import { GoldenChain } from '../goldenChain.ts'
import { NodeProcess, program, runProgram, type StartOptions } from '../node.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from '../testDisk.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// Loss of power while blocks are imported or mined, at any write: unsynced writes may be lost. The next start finds a
// consistent chain, with every acknowledged block if `storage.powerSafe` is on, and with every block before the last flush. An
// import continues to the same end.

/** A small write buffer, so that files are written and compacted within some blocks. */
const settings = {
  RHIZOME_STORAGE_WRITE_BUFFER_MEGABYTES: '1',
  RHIZOME_STORAGE_CACHE_MEGABYTES: '8',
  RHIZOME_STORAGE_TRIE_MEGABYTES: '8',
}
/** Range of calls in which a cut happens: a start makes 70 calls, an import some hundred, a mined block a few. */
const reaches = [70, 140, 280, 560]
/** Serves `rsk_flush`. */
const served = 'modules.rsk.deny = []\n'
/** Blocks after which the power is cut in any case. */
const maxBlocks = 400
const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const receiver = '0x00000000000000000000000000000000000000fe'

interface Imported {
  readonly number: number
  readonly result: string
}

export const torture: TortureCase = {
  obstacle: testDiskObstacle,
  prepare: (folder) => {
    const chain = new GoldenChain(folder)
    const library = buildTestDisk(folder)
    return {
      round: (round) => (round.random.below(2) === 0 ? importing(round, chain, library) : serving(round, library)),
    }
  },
}

async function importing({ random, folder }: Round, chain: GoldenChain, library: string): Promise<void> {
  const data = join(folder, 'data')
  const disk = new TestDisk(library, data)
  const isPowerSafe = random.below(3) === 0
  const file = chain.file(20 + 20 * random.below(5))
  const flags = ['import', file, '--chain', chain.specification, '--data-dir', data, '--json']
  const variables = { ...settings, RHIZOME_STORAGE_POWER_SAFE: `${isPowerSafe}` }
  let acknowledged = 0
  for (let cuts = 1 + random.below(3); cuts > 0; cuts--) {
    disk.cutPower(1 + random.below(random.pick(reaches)), random.next())
    const { code, output, errors } = await runProgram([program, ...flags], process.execPath, {
      ...variables,
      ...disk.variables,
    })
    disk.restorePower()
    // Killed, or ended before.
    expect([code === 0 || code === -1, withoutWarnings(errors)]).toEqual([true, ''])
    // The import may have ended before it reported the blocks that existed already.
    if (isPowerSafe) acknowledged = Math.max(acknowledged, lines(output).at(-1)?.number ?? 0)
  }
  const rest = await runProgram([program, ...flags], process.execPath, settings)
  expect([rest.code, withoutWarnings(rest.errors)]).toEqual([0, ''])
  const blocks = lines(rest.output)
  const last = blocks.length
  await expectVerified(['--chain', chain.specification, '--data-dir', data], last)
  expect(blocks.at(-1)).toMatchObject({ hash: chain.block(last).hash })
}

async function serving({ random, folder }: Round, library: string): Promise<void> {
  const flags = ['--data-dir', join(folder, 'data')]
  const disk = new TestDisk(library, join(folder, 'data'))
  const isPowerSafe = random.below(3) === 0
  const variables = { ...settings, RHIZOME_STORAGE_POWER_SAFE: `${isPowerSafe}` }
  const blocks = new MinedBlocks(isPowerSafe)
  for (let cuts = 1 + random.below(4); cuts > 0; cuts--) {
    disk.cutPower(1 + random.below(random.pick(reaches)), random.next())
    const node = await startUnlessCut(flags, { variables: { ...variables, ...disk.variables } })
    if (node !== undefined && (await mineUntilCut(node, blocks, random, disk))) blocks.markDurable()
    disk.restorePower()
  }
  const node = await NodeProcess.start(flags, served, { variables })
  await blocks.compare(node)
  const balance = Number(await node.result('eth_getBalance', [receiver, 'latest']))
  expect(balance).toBe(blocks.length)
  expect(await node.stop()).toBe(0)
  await expectVerified(flags, blocks.length)
}

/** Starts a node. Undefined if the power is cut before it serves. */
async function startUnlessCut(flags: string[], options: StartOptions): Promise<NodeProcess | undefined> {
  try {
    return await NodeProcess.start(flags, served, options)
  } catch (error) {
    expect(withoutWarnings(String(error))).toBe('Error: the node ended with -1: ')
    return undefined
  }
}

/** Mines while heads are read. Returns true if the node was stopped in good order before the cut. */
async function mineUntilCut(node: NodeProcess, blocks: MinedBlocks, random: Random, disk: TestDisk): Promise<boolean> {
  const lastBlock = random.below(4) === 0 ? random.below(50) : undefined
  const isOver = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return false
    } catch (error) {
      // The connection ends with the node.
      if (!(error instanceof TypeError)) throw error
      return true
    }
  }
  let isCut = await isOver(() => blocks.compare(node))
  const reading = (async () => {
    while (!isCut && !(await isOver(() => blocks.readHead(node))))
      await new Promise((resolve) => setTimeout(resolve, 2))
  })()
  for (let mined = 0; !isCut && mined !== lastBlock; mined++) {
    if (mined === maxBlocks) disk.cutPower(1, random.next())
    isCut = await isOver(() => (random.below(20) === 0 ? blocks.flush(node) : blocks.mine(node, random)))
  }
  const wasCut = isCut
  isCut = true
  await reading
  const code = wasCut ? await node.ended : await node.stop()
  expect([-1, 0]).toContain(code)
  expect(withoutWarnings(node.errors)).toBe('')
  return code === 0
}

/** Blocks that a node has mined, of one transfer each. */
class MinedBlocks {
  readonly #isPowerSafe: boolean
  /** Hashes of the transfers from block 1 on. */
  #acknowledged: string[] = []
  /** Number of the block up to which no loss of power may change the chain. */
  #durable = 0

  constructor(isPowerSafe: boolean) {
    this.#isPowerSafe = isPowerSafe
  }

  get length(): number {
    return this.#acknowledged.length
  }

  /** Mines a block of one transfer, with some bytes so that files fill. */
  async mine(node: NodeProcess, random: Random): Promise<void> {
    const transfer = { from: sender, to: receiver, value: '0x1', gas: '0x30000', data: random.hex(2000) }
    this.#acknowledged.push(await node.result<string>('eth_sendTransaction', [transfer]))
    if (this.#isPowerSafe) this.markDurable()
  }

  async flush(node: NodeProcess): Promise<void> {
    await node.result('rsk_flush')
    this.markDurable()
  }

  /** Reads the head. It is durable like an acknowledged block, whichever client asks. */
  async readHead(node: NodeProcess): Promise<void> {
    const head = Number(await node.result('eth_blockNumber'))
    if (this.#isPowerSafe) this.#durable = Math.max(this.#durable, head)
  }

  markDurable(): void {
    this.#durable = Math.max(this.#durable, this.#acknowledged.length)
  }

  /** Checks the chain of a node after a cut: the acknowledged blocks, or the first of them. */
  async compare(node: NodeProcess): Promise<void> {
    const head = Number(await node.result('eth_blockNumber'))
    // One block may have been mined without an answer.
    expect([head >= this.#durable, head <= this.#acknowledged.length + 1]).toEqual([true, true])
    const known = this.#acknowledged.slice(0, head)
    for (let number = Math.max(1, known.length - 50); number <= head; number++) {
      const selector = `0x${number.toString(16)}`
      const { transactions } = await node.result<{ transactions: string[] }>('eth_getBlockByNumber', [selector, false])
      // The last one is that of the miner's reward.
      const [hash = ''] = transactions
      if (number <= known.length) expect(hash).toBe(known[number - 1])
      else known.push(hash)
      expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ blockNumber: selector })
    }
    this.#acknowledged = known
    // A start that was complete has no more to lose.
    this.markDurable()
  }
}

/** Removes the warnings of starts that found a page of the log lost, but not the pages after it. */
function withoutWarnings(errors: string): string {
  return errors.replaceAll(/(?<=^|\n|: ).*the write-ahead log of the database is damaged: .*\n/g, '')
}

async function expectVerified(flags: string[], last: number): Promise<void> {
  const verify = ['verify', '--from', '0', '--to', `${last}`, '--state', '--json', ...flags]
  const verified = await runProgram([program, ...verify])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  expect(JSON.parse(verified.output)).toMatchObject({ difference: null })
}

function lines(output: string): Imported[] {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1).trim()
  return whole === '' ? [] : whole.split('\n').map((line) => JSON.parse(line) as Imported)
}
