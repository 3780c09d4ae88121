import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ProgramResult, program, runCommand, runProgram, scratchFolder } from './node.ts'

/** Runs a command and sends SIGTERM once its thread for blocks works. */
async function signalled(parameters: readonly string[]): Promise<ProgramResult> {
  // With the least priority, or the program may be done before this process has seen it work.
  return runProgram(['-n', '19', process.execPath, program, ...parameters], 'nice', {}, async (child) => {
    const tasks = `/proc/${child.pid}/task`
    const isWorking = () =>
      readdirSync(tasks).some((task) => readFileSync(`${tasks}/${task}/comm`, 'utf8') === 'rhizome-blocks\n')
    try {
      while (!isWorking()) await new Promise((resolve) => setTimeout(resolve, 1))
      child.kill('SIGTERM')
    } catch {
      // It has ended.
    }
  })
}

/** Number of the last imported block. */
const lastBlock = 204

describe('rewind and verify', { timeout: 120_000 }, () => {
  const folder = scratchFolder()
  const data = ['--data-dir', join(folder, 'data')]
  const file = join(folder, 'basic.blocks')
  const info = async () => JSON.parse((await runCommand(['info', '--json', ...data])).output)
  let imported: { number: number; hash: string; stateRoot: string }

  beforeAll(async () => {
    const packed = fileURLToPath(new URL('../../tests/vectors/chains/regtest-basic.blocks.txt.gz', import.meta.url))
    const lines = gunzipSync(readFileSync(packed)).toString().split('\n').slice(0, lastBlock)
    writeFileSync(file, `${lines.join('\n')}\n`)
    expect((await runCommand(['import', file, ...data])).code).toBe(0)
    imported = await info()
    expect(imported.number).toBe(lastBlock)
  })

  test('behavior: an imported chain is as stored', async () => {
    const plain = await runCommand(['verify', '--from', '0', '--to', String(lastBlock), '--state', ...data])
    expect([plain.code, plain.errors]).toEqual([0, ''])
    expect(plain.output).toMatch(/^205 blocks and [1-9]\d+ keys of the state verified\n$/)
    const blocks = await runCommand(['verify', '--from', '100', '--to', '120', ...data])
    expect([blocks.code, blocks.output]).toEqual([0, '21 blocks verified\n'])
    const part = ['verify', '--from', '100', '--to', '120', '--json', ...data]
    const result = { from: 100, to: 120, blocks: 21, difference: null }
    const { code, output } = await runCommand(part)
    expect([code, JSON.parse(output)]).toEqual([0, result])
    const withState = await runCommand([...part, '--state'])
    expect([withState.code, JSON.parse(withState.output)]).toEqual([0, { ...result, keys: expect.any(Number) }])
    const state = await runCommand(['verify', '--state', ...data])
    expect([state.code, state.errors]).toEqual([0, ''])
    expect(state.output).toMatch(/^[1-9]\d+ keys of the state verified\n$/)
  })

  test('error: a verification that a signal ends is partial', { timeout: 400_000 }, async () => {
    const flags = ['verify', '--from', '0', '--to', String(lastBlock), '--state', ...data]
    for (const [json, output, errors] of [
      [[], /^$/, /^rhizome: partial: \d+ blocks and \d+ keys of the state verified of 205 blocks, then stopped\n$/],
      [['--json'], /^\{"from":0,"to":204,"blocks":\d+,"keys":\d+,"partial":true\}\n$/, /^$/],
    ] as const) {
      // A fast machine may be done before the signal, a busy one nearly always.
      await expect
        .poll(() => signalled([...flags, ...json]), { timeout: 180_000 })
        .toEqual({ code: 1, output: expect.stringMatching(output), errors: expect.stringMatching(errors) })
    }
  })

  // Merges in the background decide how many bytes deleted rows still take.
  const anySize = { diskBytes: 0, diskBytesByKind: {} }

  test('behavior: back, forth and at the same head', async () => {
    const back = await runCommand(['rewind', '--to', '150', ...data])
    expect([back.code, back.output]).toEqual([
      0,
      expect.stringMatching(/^from block 204 back to block 150 \(0x[0-9a-f]{64}\)\n$/),
    ])
    expect(await info()).toMatchObject({ number: 150, highestBlock: 150 })
    expect((await runCommand(['verify', '--from', '1', '--to', '150', '--state', ...data])).code).toBe(0)
    const again = await runCommand(['import', file, ...data])
    expect([again.code, again.output]).toEqual([0, 'blocks 204, best 54, side 0, known 150, head 204\n'])
    expect({ ...(await info()), ...anySize }).toEqual({ ...imported, ...anySize })

    const toGenesis = await runCommand(['rewind', '--to', '0', '--json', ...data])
    expect(JSON.parse(toGenesis.output)).toMatchObject({ from: lastBlock, to: 0 })
    expect((await runCommand(['verify', '--from', '0', '--to', '0', '--state', ...data])).code).toBe(0)
    expect((await runCommand(['import', file, ...data])).code).toBe(0)
    expect({ ...(await info()), ...anySize }).toEqual({ ...imported, ...anySize })
    expect((await runCommand(['verify', '--from', '0', '--to', '204', '--state', ...data])).code).toBe(0)
  })

  test('error: heights that are not there', async () => {
    const cases: [string[], number, string][] = [
      [['rewind', '--to', '205'], 1, 'rhizome: cannot go back to block 205: the head is block 204\n'],
      [['verify', '--from', '1', '--to', '205'], 1, 'rhizome: there are no blocks 1 to 205: the head is block 204\n'],
      [['verify', '--from', '9', '--to', '8'], 1, 'rhizome: there are no blocks 9 to 8: the head is block 204\n'],
    ]
    for (const [command, code, errors] of cases) {
      expect(await runCommand([...command, ...data])).toEqual({ code, output: '', errors })
    }
    expect((await info()).number).toBe(lastBlock)
  })

  test('error: wrong usage ends with code 2, a missing directory with code 1', async () => {
    const cases: [string[], RegExp][] = [
      [['rewind'], /required option '--to <number>'/],
      [['rewind', '--to', '-1'], /expected a whole number/],
      [['rewind', '--to', '0x10'], /expected a whole number/],
      [['verify'], /give --from and --to, or --state, or all of them/],
      [['verify', '--to', '5'], /give --from and --to/],
      [['verify', '--from', '1', '--to', 'latest'], /expected a whole number/],
      [['verify', '--from', '1', '--to', '2', '3'], /too many arguments/],
    ]
    for (const [parameters, message] of cases) {
      const { code, errors } = await runCommand([...parameters, ...data])
      expect([code, errors]).toEqual([2, expect.stringMatching(message)])
    }
    const none = join(folder, 'none')
    const bare = join(folder, 'bare')
    mkdirSync(bare)
    writeFileSync(join(bare, 'apps.json'), '')
    for (const command of [
      ['rewind', '--to', '0'],
      ['verify', '--from', '0', '--to', '0'],
      ['export', join(folder, 'exported'), '--from', '0', '--to', '0'],
      ['info'],
    ]) {
      for (const place of [none, bare]) {
        const { code, errors } = await runCommand([...command, '--data-dir', place])
        expect([code, errors]).toEqual([1, `rhizome: ${place}: there is no chain (--data-dir)\n`])
      }
    }
    expect([existsSync(none), readdirSync(bare), existsSync(join(folder, 'exported'))]).toEqual([
      false,
      ['apps.json'],
      false,
    ])
  })

  test('error: an export of blocks that are not there, or over a file', async () => {
    const target = join(folder, 'exported')
    const cases: [string[], string][] = [
      [['--from', '1', '--to', '205'], 'rhizome: --to: there is no block 205: the head is block 204\n'],
      [['--from', '9', '--to', '8'], 'rhizome: --from: block 9 comes after block 8 of --to\n'],
    ]
    for (const [range, errors] of cases) {
      expect(await runCommand(['export', target, ...range, ...data])).toEqual({ code: 1, output: '', errors })
      expect(existsSync(target)).toBe(false)
    }
    const whole = ['--from', '1', '--to', '204', ...data]
    expect((await runCommand(['export', target, ...whole])).code).toBe(0)
    const written = readFileSync(target)
    expect(await runCommand(['export', target, ...whole])).toEqual({
      code: 1,
      output: '',
      errors: `rhizome: ${target}: exists; remove it, or name another one\n`,
    })
    expect(readFileSync(target).equals(written)).toBe(true)
    expect((await runCommand(['export', join(folder, 'none', 'x'), ...whole])).errors).toMatch(
      /cannot be written \(ENOENT\)/,
    )
  })

  test('error: a failing import leaves no new chain, and an existing chain unchanged', async () => {
    const wrong = join(folder, 'wrong.txt')
    writeFileSync(wrong, 'not a block\n')
    const later = join(folder, 'later.txt')
    writeFileSync(later, readFileSync(file, 'utf8').split('\n').slice(5, 7).join('\n'))
    const broken = join(folder, 'broken.txt')
    writeFileSync(broken, `${readFileSync(file, 'utf8').split('\n').slice(0, 3).join('\n')}\nnot a block\n`)
    const fresh = join(folder, 'a', 'b')
    const bare = join(folder, 'bare')
    for (const [source, message] of [
      [join(folder, 'missing.txt'), /cannot be read \(ENOENT\)/],
      [folder, /not an archive: its manifest does not exist/],
      [wrong, /wrong\.txt: line 1/],
      [later, /later\.txt: line 1/],
    ] as [string, RegExp][]) {
      for (const place of [fresh, bare]) {
        const { code, errors } = await runCommand(['import', source, '--data-dir', place])
        expect([source, code, errors]).toEqual([source, 1, expect.stringMatching(message)])
      }
      expect([source, existsSync(join(folder, 'a')), readdirSync(bare)]).toEqual([source, false, ['apps.json']])
    }
    expect((await runCommand(['import', wrong, ...data])).code).toBe(1)
    expect((await info()).number).toBe(lastBlock)
    expect((await runCommand(['import', broken, '--data-dir', fresh])).code).toBe(1)
    const kept = await runCommand(['info', '--json', '--data-dir', fresh])
    expect(JSON.parse(kept.output)).toMatchObject({ number: 3 })
  })

  test('error: a command on an ephemeral node', async () => {
    const config = join(folder, 'ephemeral.toml')
    writeFileSync(config, 'ephemeral = true\n')
    for (const command of [['import', file], ['info'], ['rewind', '--to', '0']]) {
      const { code, errors } = await runCommand([...command, '--config', config])
      expect([command, code, errors]).toEqual([
        command,
        1,
        expect.stringMatching(/^rhizome: ephemeral, fork\.url: such a node has no data directory/),
      ])
    }
  })
})
