import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand, scratchFolder } from './node.ts'

describe('block archives', { timeout: 120_000 }, () => {
  const folder = scratchFolder()
  const data = ['--data-dir', join(folder, 'data')]
  const archive = join(folder, 'archive')
  const key = join(folder, 'publisher.key')
  let publisher: string

  beforeAll(async () => {
    const packed = fileURLToPath(new URL('../../tests/vectors/chains/regtest-basic.blocks.txt.gz', import.meta.url))
    const lines = gunzipSync(readFileSync(packed)).toString().split('\n').slice(0, 100)
    const file = join(folder, 'basic.blocks')
    writeFileSync(file, `${lines.join('\n')}\n`)
    expect((await runCommand(['import', file, ...data])).code).toBe(0)
    const created = await runCommand(['archive', 'create', archive, '--key', key, '--json', ...data])
    expect(created).toMatchObject({ code: 0, errors: '' })
    const summary = JSON.parse(created.output) as { publisher: string }
    expect(summary).toEqual({
      written: 1,
      files: 1,
      last: 100,
      publisher: expect.stringMatching(/^0x0[23][0-9a-f]{64}$/),
    })
    publisher = summary.publisher
  })

  test('behavior: an archive is listed, verified and imported', async () => {
    const listed = await runCommand(['archive', 'list', archive, '--trust', publisher])
    expect([listed.code, listed.errors]).toEqual([0, ''])
    expect(listed.output).toContain('0000000000-0000000100.blocks')
    const verified = await runCommand(['archive', 'verify', archive])
    expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('101 blocks in 1 files verified')])
    const other = ['--data-dir', join(folder, 'other')]
    const imported = await runCommand(['import', archive, '--trust', publisher, ...other])
    expect([imported.code, imported.output]).toEqual([0, 'blocks 101, best 100, side 0, known 1, head 100\n'])
    const info = async (of: string[]) =>
      JSON.parse((await runCommand(['info', '--json', ...of])).output) as { hash: string }
    expect((await info(other)).hash).toBe((await info(data)).hash)
  })

  test('behavior: another run writes nothing', async () => {
    const again = await runCommand(['archive', 'create', archive, '--key', key, '--json', ...data])
    expect(JSON.parse(again.output)).toMatchObject({ written: 0, files: 1, last: 100 })
  })

  test('error: another publisher, damage, no archive', async () => {
    const other = ['--data-dir', join(folder, 'refused')]
    const stranger = publisher.replace(/^0x0[23]/, (prefix) => (prefix === '0x02' ? '0x03' : '0x02'))
    const refused = await runCommand(['import', archive, '--trust', stranger, ...other])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('not by the trusted key')])
    const missing = await runCommand(['archive', 'list', join(folder, 'missing')])
    expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('does not exist')])
    const file = join(archive, readdirSync(archive).find((name) => name.endsWith('.blocks')) ?? '')
    const bytes = readFileSync(file)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(file, bytes)
    for (const command of [
      ['archive', 'verify', archive],
      ['import', archive, ...other],
    ]) {
      const { code, errors } = await runCommand(command)
      expect([code, errors]).toEqual([1, expect.stringContaining('damaged')])
    }
  })
})
