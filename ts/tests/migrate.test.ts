import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { configFile, NodeProcess, program, runCommand, scratchFolder } from './node.ts'

const folder = scratchFolder()
/** A directory of layout 3 with the first 30 blocks of the golden chain, which the last version with this layout wrote. */
const old = join(folder, 'layout-3')
const lastHash = '0x6f89d48d2c6b85867fcb33f92fe683e9639009ab11acf70ab5fa5a60a448b6cd'

async function head(flags: string[]): Promise<{ number: number; hash: string }> {
  return JSON.parse((await runCommand(['info', '--json', ...flags])).output) as { number: number; hash: string }
}

/** Contents of the files of the old database. */
function oldFiles(): Record<string, string> {
  const chain = join(old, 'chain')
  return Object.fromEntries(readdirSync(chain).map((name) => [name, readFileSync(join(chain, name), 'latin1')]))
}

beforeAll(() => {
  const packed = fileURLToPath(new URL('../../crates/storage/tests/recorded/layout-3', import.meta.url))
  mkdirSync(join(old, 'chain'), { recursive: true })
  for (const file of readdirSync(packed)) {
    writeFileSync(join(old, 'chain', file.replace(/\.gz$/, '')), gunzipSync(readFileSync(join(packed, file))))
  }
})

describe('rhizome migrate', { timeout: 120_000 }, () => {
  test('behavior: the blocks of layout 3 are read into a new directory, and the old one stays as it is', async () => {
    const before = oldFiles()
    const data = ['--data-dir', join(folder, 'new')]
    const migrated = await runCommand(['migrate', '--from', old, ...data])
    expect(migrated).toEqual({ code: 0, errors: '', output: 'blocks 30, best 30, side 0, known 0, head 30\n' })
    expect(await head(data)).toMatchObject({ number: 30, hash: lastHash })
    expect(oldFiles()).toEqual(before)
    const again = await runCommand(['migrate', '--from', old, ...data])
    expect([again.code, again.output]).toEqual([0, 'blocks 0, best 0, side 0, known 0, head 30\n'])
  })

  test('behavior: a migration that was killed continues', async () => {
    const data = ['--data-dir', join(folder, 'killed')]
    const child = spawn(process.execPath, [program, 'migrate', '--from', old, '--json', ...data], { stdio: 'pipe' })
    const closed = new Promise((resolve) => child.once('close', resolve))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGKILL')
    await closed
    expect(await runCommand(['migrate', '--from', old, ...data])).toMatchObject({ code: 0, errors: '' })
    expect(await head(data)).toMatchObject({ number: 30, hash: lastHash })
  })

  test('behavior: storage.proofs may differ', async () => {
    const settings = ['--config', configFile('[storage]\nproofs = "16"\n')]
    const data = ['--data-dir', join(folder, 'all')]
    expect(await runCommand(['migrate', '--from', old, ...data])).toMatchObject({ code: 0 })
    const refused = await runCommand(['info', ...data, ...settings])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('rhizome migrate --from')])
    const fewer = ['--data-dir', join(folder, 'fewer'), ...settings]
    expect(await runCommand(['migrate', '--from', join(folder, 'all'), ...fewer])).toMatchObject({ code: 0 })
    expect(await head(fewer)).toMatchObject({ number: 30, hash: lastHash })
  })

  test('behavior: a damaged log of the old directory is named, and the blocks before the damage are read', async () => {
    const damaged = join(folder, 'damaged')
    const node = await NodeProcess.start(['--data-dir', damaged])
    for (let number = 1; number <= 3; number++) await node.result('evm_mine')
    const { hash } = await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    await node.stop()
    const logs = readdirSync(join(damaged, 'chain')).filter((name) => name.endsWith('.log'))
    const log = join(damaged, 'chain', logs.sort().at(-1) ?? '')
    const bytes = readFileSync(log)
    const at = bytes.indexOf(Buffer.from(hash.slice(2), 'hex'))
    expect(at).toBeGreaterThan(0)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(log, bytes)
    const data = ['--data-dir', join(folder, 'undamaged')]
    const { code, errors, output } = await runCommand(['migrate', '--from', damaged, ...data])
    expect([code, output]).toEqual([0, 'blocks 2, best 2, side 0, known 0, head 2\n'])
    expect(errors).toBe(
      `${damaged}: the write-ahead log of the database is damaged: what was written after block 2 is lost\n`,
    )
  })

  test('error: states that an earlier run with another setting has deleted', async () => {
    const data = ['--data-dir', join(folder, 'kept')]
    const few = ['--config', configFile('[storage]\nhistory = "5"\n')]
    const all = ['--config', configFile('[storage]\nhistory = "archive"\n')]
    expect(await runCommand(['migrate', '--from', old, ...data, ...few])).toMatchObject({ code: 0 })
    expect(await runCommand(['prune', ...data, ...few])).toMatchObject({ code: 0 })
    const { code, errors } = await runCommand(['migrate', '--from', old, ...data, ...all])
    expect([code, errors]).toEqual([1, expect.stringContaining('has states from block 25 on only')])
    expect(errors).toContain('"archive" asks for those from block 0 on')
    expect(await runCommand(['migrate', '--from', old, ...data, ...few])).toMatchObject({ code: 0 })
  })

  test('error: the layout names the way out; no directory, the same one, another network, one in use', async () => {
    const before = oldFiles()
    const node = await NodeProcess.start(['--data-dir', join(folder, 'used')])
    const cases: [string[], string, number?][] = [
      [['info', '--data-dir', old], `has layout 3, this node reads layout 4: \`rhizome migrate --from ${old}\``],
      [['migrate', '--from', folder, '--data-dir', join(folder, 'x')], 'there is no chain (--from)'],
      [['migrate', '--from', old, '--data-dir', old], 'is the data directory itself', 2],
      [['migrate', '--from', old, '--network', 'testnet', '--data-dir', join(folder, 'x')], 'belongs to another chain'],
      [['migrate', '--from', join(folder, 'used'), '--data-dir', join(folder, 'x')], 'in use by another process'],
    ]
    for (const [command, reason, expected = 1] of cases) {
      const { code, errors } = await runCommand(command)
      expect([code, errors]).toEqual([expected, expect.stringContaining(reason)])
    }
    await node.stop()
    expect(oldFiles()).toEqual(before)
  })
})
