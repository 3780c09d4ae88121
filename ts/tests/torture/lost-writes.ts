import { join } from 'node:path'
import { expect } from 'vitest'
import { GoldenChain } from '../goldenChain.ts'
import { program, runProgram } from '../node.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from '../testDisk.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// Loss of power while blocks are imported, at any write: unsynced writes may be lost. The next start finds a consistent chain,
// with every acknowledged block if `storage.powerSafe` is on, and the import continues to the same end.

/** A small write buffer, so that files are written and compacted within some blocks. */
const settings = { RHIZOME_STORAGE_WRITE_BUFFER_MEGABYTES: '1', RHIZOME_STORAGE_CACHE_MEGABYTES: '8' }
/** Range of calls in which a cut happens: a start makes 70 calls, an import some hundred. */
const reaches = [70, 140, 280, 560]

interface Imported {
  readonly number: number
  readonly result: string
}

export const torture: TortureCase = {
  obstacle: testDiskObstacle,
  prepare: (folder) => {
    const chain = new GoldenChain(folder)
    const library = buildTestDisk(folder)
    return { round: (round) => cutPower(round, chain, library) }
  },
}

async function cutPower({ random, folder }: Round, chain: GoldenChain, library: string): Promise<void> {
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
    expect([code === 0 || code === -1, errors]).toEqual([true, ''])
    // The import may have ended before it reported the blocks that existed already.
    if (isPowerSafe) acknowledged = Math.max(acknowledged, lines(output).at(-1)?.number ?? 0)
  }
  const rest = await runProgram([program, ...flags], process.execPath, settings)
  expect([rest.code, rest.errors]).toEqual([0, ''])
  const blocks = lines(rest.output)
  const last = blocks.length
  expect(blocks.filter(({ result }) => result === 'EXIST').length).toBeGreaterThanOrEqual(acknowledged)
  const verify = [
    'verify',
    '--from',
    '0',
    '--to',
    `${last}`,
    '--chain',
    chain.specification,
    '--data-dir',
    data,
    '--state',
  ]
  const verified = await runProgram([program, ...verify, '--json'])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  expect(JSON.parse(verified.output)).toMatchObject({ difference: null })
  expect(blocks.at(-1)).toMatchObject({ hash: chain.block(last).hash })
}

function lines(output: string): Imported[] {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1).trim()
  return whole === '' ? [] : whole.split('\n').map((line) => JSON.parse(line) as Imported)
}
