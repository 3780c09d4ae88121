import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Random } from '../../src/compare/random.ts'
import { GoldenChain } from '../goldenChain.ts'
import { type ProgramResult, program, runProgram } from '../node.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from '../testDisk.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// kill -9, loss of power and a full disk while a directory with current trie nodes imports in groups, flushes and prunes. The next
// start finds a consistent chain, kept states stay readable, and the import continues to the same end.

/** Range of calls in which a cut or a fault happens: a start makes 70 calls, an import some hundred. */
const reaches = [70, 140, 280, 560]
const faults = ['kill', 'cut', 'full'] as const

export const torture: TortureCase = {
  obstacle: testDiskObstacle,
  prepare: (folder) => {
    const chain = new GoldenChain(folder)
    const library = buildTestDisk(folder)
    return { round: (round) => failPruning(round, chain, library) }
  },
}

async function failPruning({ random, folder }: Round, chain: GoldenChain, library: string): Promise<void> {
  const data = join(folder, 'data')
  const disk = new TestDisk(library, data)
  const blocks = 40 + 40 * random.below(5)
  const file = chain.file(blocks)
  const settings = {
    RHIZOME_STORAGE_WRITE_BUFFER_MEGABYTES: '1',
    RHIZOME_STORAGE_CACHE_MEGABYTES: '8',
    RHIZOME_STORAGE_TRIE_MEGABYTES: '8',
    RHIZOME_STORAGE_PROOFS: '2',
    RHIZOME_STORAGE_HISTORY: `${2 + random.below(20)}`,
    RHIZOME_STORAGE_FLUSHED_KEYS: `${random.pick([1, 20, 200, 2000])}`,
    RHIZOME_STORAGE_GROUPED_BLOCKS: `${random.pick([1, 8, 256])}`,
  }
  const flags = ['--json', '--chain', chain.specification, '--data-dir', data]
  const run = (command: readonly string[], variables = {}, onStart?: Kill) =>
    runProgram([program, ...command, ...flags], process.execPath, { ...settings, ...variables }, onStart)
  for (let count = 2 + random.below(4); count > 0; count--) {
    const command = random.below(2) === 0 && existsSync(join(data, 'chain', 'CURRENT')) ? ['prune'] : ['import', file]
    await fail(random, disk, (onStart) => run(command, disk.variables, onStart))
    await expectConsistent(chain, run)
  }
  const rest = await run(['import', file])
  expect([rest.code, rest.errors]).toEqual([0, ''])
  const pruned = await run(['prune'])
  expect([pruned.code, pruned.errors]).toEqual([0, ''])
  expect(await expectConsistent(chain, run)).toBe(blocks)
}

type Kill = (child: { kill: (signal: 'SIGKILL') => unknown }) => unknown
type Run = (command: readonly string[]) => Promise<ProgramResult>

/** Runs a command that is killed, loses unsynced writes, or finds the disk full. */
async function fail(random: Random, disk: TestDisk, run: (onStart?: Kill) => Promise<ProgramResult>): Promise<void> {
  const call = 1 + random.below(random.pick(reaches))
  const fault = random.pick(faults)
  if (fault === 'kill') {
    const ms = random.below(1500)
    await run((child) => setTimeout(() => child.kill('SIGKILL'), ms))
  } else if (fault === 'cut') {
    disk.cutPower(call, random.next())
    const { code, errors } = await run()
    disk.restorePower()
    expect([code === 0 || code === -1, errors]).toEqual([true, ''])
  } else {
    disk.fail('ENOSPC', call)
    const { code, errors } = await run()
    disk.heal()
    if (code !== 0) expect(errors).toMatch(/no space left|No space left/)
  }
}

/** Verifies all blocks above the oldest kept state, and the state of the head. Returns the number of the head. */
async function expectConsistent(chain: GoldenChain, run: Run): Promise<number> {
  for (;;) {
    const head = await verifiedHead(chain, run)
    if (head !== undefined) return head
  }
}

/** Returns undefined if states were pruned between both commands. */
async function verifiedHead(chain: GoldenChain, run: Run): Promise<number | undefined> {
  const info = await run(['info'])
  // Nothing was created before the fault.
  if (info.code === 1 && info.errors.includes('there is no chain')) return 0
  expect([info.code, info.errors]).toEqual([0, ''])
  const head = JSON.parse(info.output) as { number: number; hash: string; oldestState: number }
  const { number, hash, oldestState } = head
  if (number > 0) expect(hash).toBe(chain.block(number).hash)
  const from = oldestState === 0 ? 0 : oldestState + 1
  expect(from).toBeLessThanOrEqual(number)
  const verified = await run(['verify', '--from', `${from}`, '--to', `${number}`, '--state'])
  if (verified.errors.includes('are not kept')) return undefined
  expect([verified.code, verified.errors]).toEqual([0, ''])
  expect(JSON.parse(verified.output)).toMatchObject({ difference: null })
  return number
}
