import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ended, program, runCommand, runProgram, scratchFolder } from './node.ts'

// An import of 2,000 full blocks that is killed, that finds no room, that may not write: each time the data directory stays
// consistent, and the import goes on to the same state as if nothing had happened. `npm run durability` kills more often.

const kills = Number(process.env.DURABILITY_KILLS ?? 10)
const minute = 60_000
/** The beginning of the chain is enough where the clock does not decide when something happens. */
const partBlocks = 400
const stepProgram = fileURLToPath(new URL('runStep.mjs', import.meta.url))

type Command = readonly string[]

const folder = scratchFolder()
const whole = join(folder, 'load.blocks')
const part = join(folder, 'part.blocks')
const chain = join(folder, 'load.json')
/** What the reference node recorded of a block. */
interface Recorded {
  readonly number: number
  readonly hash: string
  readonly stateRoot: string
}
let wholeEnd: Recorded
let partEnd: Recorded

beforeAll(() => {
  const lines = vector('load.blocks.txt.gz').toString()
  writeFileSync(whole, lines)
  writeFileSync(part, `${lines.split('\n', partBlocks).join('\n')}\n`)
  const golden = JSON.parse(vector('load.json.gz').toString())
  writeFileSync(chain, JSON.stringify(golden.spec))
  const recorded = ({ number, hash, stateRoot }: Recorded): Recorded => ({ number, hash, stateRoot })
  wholeEnd = recorded(golden.blocks.at(-1))
  partEnd = recorded(golden.blocks[partBlocks - 1])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe(`${kills} times kill -9 while importing`, () => {
  test('behavior: the head is consistent, nothing acknowledged is lost, the end is the same', {
    timeout: minute * (5 + kills / 4),
  }, async () => {
    // A few kills would all hit the beginning of the long chain.
    const [file, end] = kills > 10 ? [whole, wholeEnd] : [part, partEnd]
    let round = 0
    let data = join(folder, 'data-0')
    for (let kill = 0; kill < kills; kill++) {
      const acknowledged = await killedImport(file, data)
      const head = await consistentHead(data)
      expect(head).toBeGreaterThanOrEqual(acknowledged)
      if (head === end.number) {
        rmSync(data, { recursive: true })
        data = join(folder, `data-${++round}`)
      }
    }
    await expectImportToTheEnd(file, data, end)
  })
})

describe('a disk without room', () => {
  test('error: import ends with code 1, and goes on when there is room', { timeout: 5 * minute }, async (context) => {
    if (!canMount()) return context.skip('needs the right to mount a file system (root or user namespaces)')
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const data = ['--data-dir', join(disk, 'data')]
    const ended = await mounted([
      ['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk],
      step('full', ['import', part, '--chain', chain, ...data]),
      step('still full', ['start', '--http-port', '0', '--chain', chain, ...data]),
      ['mount', '-o', 'remount,size=4g', disk],
      step('info', ['info', '--json', '--chain', chain, ...data]),
      step('room', ['import', part, '--chain', chain, ...data]),
      step('end', ['info', '--json', '--chain', chain, ...data]),
    ])
    const noRoom = `rhizome: .*no space left for data directory ${data[1]}`
    expect(ended.get('full')).toEqual({ code: 1, output: '', errors: expect.stringMatching(noRoom) })
    expect(ended.get('still full')).toEqual({ code: 1, output: '', errors: expect.stringMatching(noRoom) })
    const kept = JSON.parse(ended.get('info')?.output ?? '') as { number: number }
    expect(kept.number).toBeGreaterThan(0)
    expect(kept.number).toBeLessThan(partEnd.number)
    expect(ended.get('room')?.output).toContain(`known ${kept.number}, head ${partEnd.number}`)
    expect(JSON.parse(ended.get('end')?.output ?? '')).toMatchObject(partEnd)
  })
})

describe('a directory that may not be written', () => {
  const some = join(folder, 'some.blocks')
  const data = join(folder, 'kept')
  const flags = ['--chain', chain, '--data-dir', data]
  const blocks = 100

  test('error: import and start end with code 1, and go on when they may', { timeout: 5 * minute }, async (context) => {
    const isRoot = process.getuid?.() === 0
    if (isRoot && !canMount()) return context.skip('root may write everywhere, and mounting is not permitted')
    writeFileSync(some, readFileSync(part).toString().split('\n', blocks).join('\n'))
    expect((await runCommand(['import', some, ...flags])).code).toBe(0)
    const refused = [step('import', ['import', some, ...flags]), step('start', ['start', '--http-port', '0', ...flags])]
    const readOnly = ['remount,ro,bind', data]
    let ended: Map<string, Ended>
    if (isRoot) {
      ended = await mounted([['mount', '--bind', data, data], ['mount', '-o', ...readOnly], ...refused])
    } else {
      chmodSync(data, 0o555)
      ended = await steps('sh', ['-e', '-c', script(refused)])
      chmodSync(data, 0o755)
    }
    const reason = `rhizome: data directory ${data} cannot be used: (Read-only file system|Permission denied)`
    expect(ended.size).toBe(refused.length)
    for (const got of ended.values()) {
      expect(got).toEqual({ code: 1, output: '', errors: expect.stringMatching(reason) })
    }
    expect(await consistentHead(data)).toBe(blocks)
    await expectImportToTheEnd(part, data, partEnd)
  })
})

/** Imports and kills the process at any moment after its first new block. Returns the last block that it reported. */
async function killedImport(file: string, data: string): Promise<number> {
  const child = spawn(process.execPath, [program, 'import', file, '--chain', chain, '--data-dir', data, '--json'])
  const ended = new Promise((resolve) => child.on('close', resolve))
  let text = ''
  let acknowledged = 0
  const first = new Promise((resolve) => {
    child.stdout.on('data', (bytes) => {
      const lines = `${text}${bytes}`.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { number, result } = JSON.parse(line) as { number: number; result: string }
        acknowledged = number
        if (result !== 'EXIST') resolve(undefined)
      }
    })
  })
  await Promise.race([first, ended])
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 2500))
  child.kill('SIGKILL')
  await ended
  return acknowledged
}

/** Opens the directory, executes the last blocks again, compares all of the flat state with the trie. Returns the head. */
async function consistentHead(data: string): Promise<number> {
  const flags = ['--json', '--chain', chain, '--data-dir', data]
  const info = await runCommand(['info', ...flags])
  expect([info.code, info.errors]).toEqual([0, ''])
  const { number } = JSON.parse(info.output) as { number: number }
  const verified = await runCommand([
    'verify',
    '--from',
    String(Math.max(0, number - 5)),
    '--to',
    String(number),
    ...flags,
  ])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  const { keys, difference } = JSON.parse(verified.output) as { keys: number; difference: unknown }
  expect(difference).toBeNull()
  expect(keys).toBeGreaterThan(0)
  return number
}

async function expectImportToTheEnd(file: string, data: string, end: Recorded): Promise<void> {
  const rest = await runCommand(['import', file, '--chain', chain, '--data-dir', data])
  expect([rest.code, rest.errors]).toEqual([0, ''])
  const info = await runCommand(['info', '--json', '--chain', chain, '--data-dir', data])
  expect(JSON.parse(info.output)).toMatchObject(end)
  expect(await consistentHead(data)).toBe(end.number)
}

/** Whether file systems can be mounted in a name space that only the commands of a test see, and that goes with them. */
function canMount(): boolean {
  if (process.platform !== 'linux') return false
  const place = join(folder, 'probe')
  if (!existsSync(place)) mkdirSync(place)
  return spawnSync('unshare', [...unshared(), 'mount', '-t', 'tmpfs', 'tmpfs', place]).status === 0
}

function unshared(): string[] {
  return process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
}

/** A command of the program; its end is told as one line of JSON. */
function step(name: string, parameters: Command): Command {
  return [process.execPath, stepProgram, name, program, ...parameters]
}

/** Runs commands in a name space of their own, so that nothing stays mounted, whatever happens. */
function mounted(commands: readonly Command[]): Promise<Map<string, Ended>> {
  return steps('unshare', [...unshared(), 'sh', '-e', '-c', script(commands)])
}

async function steps(command: string, parameters: readonly string[]): Promise<Map<string, Ended>> {
  const { code, output, errors } = await runProgram(parameters, command)
  expect([code, errors]).toEqual([0, ''])
  const lines = output.trim().split('\n')
  return new Map(lines.map((line) => JSON.parse(line) as [string, Ended]))
}

function script(commands: readonly Command[]): string {
  return commands.map((command) => command.map((word) => `'${word}'`).join(' ')).join('\n')
}

function vector(name: string): Buffer {
  return gunzipSync(readFileSync(fileURLToPath(new URL(`../../tests/vectors/chains/${name}`, import.meta.url))))
}
