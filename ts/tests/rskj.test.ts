import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { program, runCommand, scratchFolder } from './node.ts'

const folder = scratchFolder()
/** Directories of rskj 9.0.3 on regtest, and the hashes of their last blocks (number 163). */
const recorded = {
  rocksdb: '0x3651d47fa9c52b54a505bb2bdf8da4e562cb9900a42a59ef9979914343c22b05',
  leveldb: '0xe7255af32d43b85ec94e95e98d16e7fcb848ba1e4a46a441b819719a2cd958bf',
}

/** Unpacks a recorded directory. */
function unpacked(kind: string, name: string): string {
  const dir = join(folder, name)
  mkdirSync(join(dir, 'blocks'), { recursive: true })
  const packed = fileURLToPath(new URL(`../../crates/rskj/tests/recorded/${kind}`, import.meta.url))
  for (const file of readdirSync(packed)) {
    writeFileSync(join(dir, 'blocks', file.replace(/\.gz$/, '')), gunzipSync(readFileSync(join(packed, file))))
  }
  return dir
}

function dataIn(name: string): string[] {
  return ['--data-dir', join(folder, name)]
}

async function head(flags: string[]): Promise<{ number: number; hash: string }> {
  return JSON.parse((await runCommand(['info', '--json', ...flags])).output) as { number: number; hash: string }
}

describe('import from rskj', { timeout: 120_000 }, () => {
  test.each(Object.entries(recorded))('behavior: a data directory of rskj is imported (%s)', async (kind, hash) => {
    const dir = unpacked(kind, `rskj-${kind}`)
    const data = dataIn(`data-${kind}`)
    const imported = await runCommand(['import', '--rskj', dir, ...data])
    expect(imported).toEqual({ code: 0, errors: '', output: 'blocks 163, best 163, side 0, known 0, head 163\n' })
    expect(await head(data)).toMatchObject({ number: 163, hash })
    const again = await runCommand(['import', '--rskj', dir, ...data])
    expect([again.code, again.output]).toEqual([0, 'blocks 0, best 0, side 0, known 0, head 163\n'])
  })

  test('behavior: with --json each block is a line, behind the number of the last one', async () => {
    const { output } = await runCommand([
      'import',
      '--rskj',
      unpacked('leveldb', 'rskj-json'),
      '--json',
      ...dataIn('json'),
    ])
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect([lines.length, lines[0]]).toEqual([164, { last: 163 }])
    expect(lines.at(-1)).toMatchObject({ number: 163, hash: recorded.leveldb, result: 'IMPORTED_BEST' })
  })

  test('behavior: an import that was killed goes on', async () => {
    const dir = unpacked('rocksdb', 'rskj-killed')
    const data = dataIn('killed')
    const child = spawn(process.execPath, [program, 'import', '--rskj', dir, '--json', ...data], { stdio: 'pipe' })
    const closed = new Promise((resolve) => child.once('close', resolve))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGKILL')
    await closed
    const continued = await runCommand(['import', '--rskj', dir, ...data])
    expect([continued.code, continued.errors]).toEqual([0, ''])
    expect(await head(data)).toMatchObject({ number: 163, hash: recorded.rocksdb })
  })

  test('error: no directory, another network, damage, other sources beside it', async () => {
    const dir = unpacked('leveldb', 'rskj-refused')
    const table = join(dir, 'blocks', '000025.sst')
    const cases: [string[], string, number?][] = [
      [['--rskj', folder, ...dataIn('none')], 'not a data directory of rskj'],
      [['--rskj', dir, '--network', 'testnet', ...dataIn('testnet')], 'of another network'],
      [['--rskj', dir, dir, ...dataIn('both')], 'imported alone', 2],
      [['--rskj', dir, '--trust', `0x02${'11'.repeat(32)}`, ...dataIn('trust')], 'has no publisher', 2],
      [dataIn('nothing'), 'a file, archives or --rskj DIR are expected', 2],
    ]
    for (const [flags, reason, expected = 1] of cases) {
      const { code, errors } = await runCommand(['import', ...flags])
      expect([code, errors]).toEqual([expected, expect.stringContaining(reason)])
    }
    const bytes = readFileSync(table)
    bytes[5000] = (bytes[5000] ?? 0) ^ 1
    writeFileSync(table, bytes)
    const damaged = await runCommand(['import', '--rskj', dir, ...dataIn('damaged')])
    expect([damaged.code, damaged.errors]).toEqual([
      1,
      expect.stringMatching(/000025\.sst: damaged: the block at \d+ does/),
    ])
  })
})
