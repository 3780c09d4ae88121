import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, type ProgramResult, program, runCommand, runProgram, scratchFolder } from './node.ts'
import { S3Server } from './s3Server.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from './testDisk.ts'

const folder = scratchFolder()
const data = ['--data-dir', join(folder, 'data')]
const archive = join(folder, 'archive')
const key = join(folder, 'publisher.key')
let publisher: string

async function headHash(flags: string[]): Promise<string> {
  return (JSON.parse((await runCommand(['info', '--json', ...flags])).output) as { hash: string }).hash
}

/** Returns the names of a folder's files of blocks. */
function blockFiles(path: string): string[] {
  return readdirSync(path).filter((name) => name.endsWith('.blocks'))
}

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
}, 120_000)

describe('block archives', { timeout: 120_000 }, () => {
  test('behavior: an archive is listed, verified and imported', async () => {
    const listed = await runCommand(['archive', 'list', archive, '--trust', publisher])
    expect([listed.code, listed.errors]).toEqual([0, ''])
    expect(listed.output).toContain('0000000000-0000000100.blocks')
    const verified = await runCommand(['archive', 'verify', archive])
    expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('101 blocks in 1 files verified')])
    const other = ['--data-dir', join(folder, 'other')]
    const imported = await runCommand(['import', archive, '--trust', publisher, ...other])
    expect([imported.code, imported.output]).toEqual([0, 'blocks 101, best 100, side 0, known 1, head 100\n'])
    expect(await headHash(other)).toBe(await headHash(data))
  })

  test('behavior: another run writes nothing and removes files that the manifest does not name', async () => {
    writeFileSync(join(archive, '0000000000-0000000042.blocks'), 'of a killed run')
    writeFileSync(join(archive, '0000000000-0000000100.blocks#1'), 'of a killed run')
    writeFileSync(join(archive, 'readme'), 'not of the archive')
    const again = await runCommand(['archive', 'create', archive, '--key', key, '--json', ...data])
    expect(JSON.parse(again.output)).toMatchObject({ written: 0, files: 1, last: 100 })
    expect(readdirSync(archive).sort()).toEqual(['0000000000-0000000100.blocks', 'manifest', 'readme'])
  })

  test('behavior: a serving node imports while it answers', async () => {
    const node = await NodeProcess.start(['--archive', archive, '--trust', publisher])
    await expect.poll(() => node.result('eth_blockNumber'), { timeout: 20_000 }).toBe('0x64')
    expect(await node.stop()).toBe(0)
  })

  test('behavior: an import that was killed goes on', async () => {
    const flags = ['--data-dir', join(folder, 'killed')]
    let hasProgress = false
    for (let round = 0; round < 20 && !hasProgress; round++) {
      const child = spawn(process.execPath, [program, 'import', archive, '--json', ...flags], { stdio: 'pipe' })
      const closed = new Promise((resolve) => child.on('close', resolve))
      await new Promise<void>((resolve) => {
        child.stdout.once('data', () => {
          hasProgress = true
          resolve()
        })
        child.once('close', () => resolve())
      })
      child.kill('SIGKILL')
      await closed
    }
    expect(hasProgress).toBe(true)
    const continued = await runCommand(['import', archive, ...flags])
    expect([continued.code, continued.errors]).toEqual([0, ''])
    expect(await headHash(flags)).toBe(await headHash(data))
  })

  test('error: another publisher, damage, no archive; a good archive replaces a damaged one', async () => {
    const other = ['--data-dir', join(folder, 'refused')]
    const stranger = publisher.replace(/^0x0[23]/, (prefix) => (prefix === '0x02' ? '0x03' : '0x02'))
    const unset = await runCommand(['import', archive, '--trust', '', ...other])
    expect([unset.code, unset.errors]).toEqual([2, expect.stringContaining('expected 33 bytes in hex')])
    const refused = await runCommand(['import', archive, '--trust', stranger, ...other])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('not by the trusted key')])
    const missing = await runCommand(['archive', 'list', join(folder, 'missing')])
    expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('does not exist')])
    const damaged = join(folder, 'damaged')
    expect((await runCommand(['archive', 'create', damaged, '--key', key, ...data])).code).toBe(0)
    const file = join(damaged, blockFiles(damaged)[0] ?? '')
    const bytes = readFileSync(file)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(file, bytes)
    for (const command of [
      ['archive', 'verify', damaged],
      ['import', damaged, ...other],
    ]) {
      const { code, errors } = await runCommand(command)
      expect([code, errors]).toEqual([1, expect.stringContaining('damaged')])
    }
    const replaced = await runCommand(['import', damaged, archive, ...other])
    expect([replaced.code, await headHash(other)]).toEqual([0, await headHash(data)])
  })
})

describe('block archives in S3', { timeout: 120_000 }, () => {
  test('behavior: an archive is written, continued, listed, verified and imported', async () => {
    const server = await S3Server.start()
    const run = (...parameters: string[]): Promise<ProgramResult> =>
      runProgram([program, ...parameters], process.execPath, server.variables)
    const location = 's3://bucket/some/path'
    const early = await run('archive', 'create', location, '--key', key, '--to', '40', ...data)
    expect(early).toMatchObject({ code: 0, errors: '' })
    server.files.set('some/path/0000000000-0000000007.blocks', Buffer.from('of a killed run'))
    expect(await run('archive', 'create', location, '--key', key, ...data)).toMatchObject({ code: 0, errors: '' })
    expect([...server.files.keys()].sort()).toEqual(['some/path/0000000000-0000000100.blocks', 'some/path/manifest'])
    expect(server.uploads.size).toBe(0)
    const listed = await run('archive', 'list', location, '--trust', publisher)
    expect([listed.code, listed.output]).toEqual([0, expect.stringContaining('0000000000-0000000100.blocks')])
    expect(await run('archive', 'verify', location)).toMatchObject({ code: 0 })
    const other = ['--data-dir', join(folder, 's3')]
    expect(await run('import', location, ...other)).toMatchObject({ code: 0, errors: '' })
    expect(await headHash(other)).toBe(await headHash(data))
    const empty = await run('archive', 'list', 's3://bucket/other')
    expect([empty.code, empty.errors]).toEqual([1, expect.stringContaining('does not exist')])
    server.stop()
  })
})

describe.skipIf(testDiskObstacle() !== undefined)('block archives on a full disk', { timeout: 120_000 }, () => {
  test('error: the archive before stays valid, and the next run completes it', async () => {
    const library = buildTestDisk(folder)
    const full = join(folder, 'full')
    const create = (disk?: TestDisk, ...parameters: string[]): Promise<ProgramResult> =>
      runProgram(
        [program, 'archive', 'create', full, '--key', key, ...data, ...parameters],
        process.execPath,
        disk?.variables,
      )
    expect((await create(undefined, '--to', '40')).code).toBe(0)
    // Each call that changes files fails once, until all of them succeed.
    let last = 40
    for (let call = 1; last === 40; call++) {
      const disk = new TestDisk(library, full)
      disk.fail('ENOSPC', call)
      const { code, errors } = await create(disk)
      const listed = await runCommand(['archive', 'list', full, '--json'])
      const { files } = JSON.parse(listed.output) as { files: { last: number }[] }
      last = files[0]?.last ?? 0
      if (last === 40) expect([code, errors]).toEqual([1, expect.stringContaining('No space left')])
      expect(await runCommand(['archive', 'verify', full])).toMatchObject({ code: 0 })
    }
    expect(await create()).toMatchObject({ code: 0, errors: '' })
    expect(blockFiles(full)).toEqual(['0000000000-0000000100.blocks'])
    expect(await runCommand(['archive', 'verify', full])).toMatchObject({ code: 0 })
  })
})

describe('a node whose archive does not answer', { timeout: 60_000 }, () => {
  test('behavior: it serves, knows its lag, and ends at once', async () => {
    const requests: ServerResponse[] = []
    let answers = true
    // It answers until the first block of the archive was asked for.
    const server = createServer((request, response) => {
      const name = (request.url ?? '').slice(1)
      if (name !== 'manifest') answers = false
      if (answers) response.end(readFileSync(join(archive, name)))
      else requests.push(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const isSilent of [false, true]) {
      answers = !isSilent
      const node = await NodeProcess.start(['--archive', url])
      await expect.poll(() => requests.length, { timeout: 20_000 }).toBeGreaterThan(0)
      if (!isSilent) {
        expect(await node.result('eth_syncing')).toMatchObject({ currentBlock: '0x0', highestBlock: '0x64' })
        expect(await (await fetch(`${node.url}/health`)).json()).toMatchObject({ lagBlocks: 100 })
      }
      const startedMs = performance.now()
      expect(await node.stop()).toBe(0)
      expect(performance.now() - startedMs).toBeLessThan(1500)
      requests.splice(0)
    }
    server.closeAllConnections()
    server.close()
  })
})
