import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { GoldenChain } from './goldenChain.ts'
import { configFile, NodeProcess, type ProgramResult, program, runCommand, runProgram, scratchFolder } from './node.ts'

// An import of full blocks without disk space, or without write permission: the data directory stays consistent, and a new
// import ends with the same state. Kills are a case of `npm run torture`.

const minute = 60_000
const stepProgram = fileURLToPath(new URL('runStep.mjs', import.meta.url))

type Command = readonly string[]

const folder = scratchFolder()
const golden = new GoldenChain(folder)
const chain = golden.specification
const partBlocks = 400
const part = golden.file(partBlocks)
const partEnd = golden.block(partBlocks)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a disk without room', () => {
  test('error: import exits with code 1, and continues when there is room', {
    timeout: 5 * minute,
  }, async (context) => {
    if (!canMount()) return context.skip('needs the right to mount a file system (root or user namespaces)')
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const data = ['--data-dir', join(disk, 'data')]
    const ended = await mounted([
      ['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk],
      step('full', ['import', part, '--chain', chain, ...data]),
      // The group of blocks that did not fit has left some room.
      ['sh', '-c', 'cat /dev/zero > "$0" 2> /dev/null || true', join(disk, 'ballast')],
      step('still full', ['start', '--http-port', '0', '--chain', chain, ...data]),
      step('full info', ['info', '--json', '--chain', chain, ...data]),
      ['rm', join(disk, 'ballast')],
      ['mount', '-o', 'remount,size=4g', disk],
      step('info', ['info', '--json', '--chain', chain, ...data]),
      step('room', ['import', part, '--chain', chain, ...data]),
      step('end', ['info', '--json', '--chain', chain, ...data]),
    ])
    const noRoom = `rhizome: .*no space left for data directory ${data[1]}`
    expect(ended.get('full')).toEqual({ code: 1, output: '', errors: expect.stringMatching(noRoom) })
    expect(ended.get('still full')).toEqual({ code: 1, output: '', errors: expect.stringMatching(noRoom) })
    const kept = JSON.parse(ended.get('info')?.output ?? '') as { number: number }
    expect(JSON.parse(ended.get('full info')?.output ?? '')).toMatchObject({ number: kept.number })
    expect(kept.number).toBeGreaterThan(0)
    expect(kept.number).toBeLessThan(partEnd.number)
    expect(ended.get('room')?.output).toContain(`known ${kept.number}, head ${partEnd.number}`)
    expect(JSON.parse(ended.get('end')?.output ?? '')).toMatchObject(partEnd)
  })
})

describe('prune on a full disk', () => {
  test('error: prune exits with code 1, and works when there is room', {
    timeout: 5 * minute,
  }, async (context) => {
    if (!canMount()) return context.skip('needs the right to mount a file system (root or user namespaces)')
    const disk = join(folder, 'pruned')
    mkdirSync(disk)
    const flags = ['--chain', chain, '--data-dir', join(disk, 'data'), '--config', configFile('storage.proofs = "4"\n')]
    const ended = await mounted([
      ['mount', '-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk],
      step('import', ['import', part, ...flags]),
      ['sh', '-c', 'cat /dev/zero > "$0" 2> /dev/null || true', join(disk, 'ballast')],
      step('full', ['prune', '--json', ...flags]),
      ['rm', join(disk, 'ballast')],
      step('room', ['prune', '--json', ...flags]),
      step('verify', ['verify', '--from', '390', '--to', '400', '--state', ...flags]),
    ])
    expect(ended.get('import')).toMatchObject({ code: 0, errors: '' })
    const noRoom = `rhizome: .*no space left for data directory ${join(disk, 'data')}`
    expect(ended.get('full')).toMatchObject({ code: 1, errors: expect.stringMatching(noRoom) })
    expect(ended.get('room')).toMatchObject({ code: 0, errors: '' })
    expect(ended.get('verify')).toMatchObject({ code: 0, errors: '' })
  })
})

describe('a disk that becomes full under a serving node', () => {
  test('behavior: writers and /health answer with the reason, reads continue, and writes do once there is room', {
    timeout: 5 * minute,
  }, async (context) => {
    if (!canMount()) return context.skip('needs the right to mount a file system (root or user namespaces)')
    const disk = join(folder, 'small')
    mkdirSync(disk)
    const mount = 'mount -t tmpfs -o size=32m tmpfs "$0"; exec "$@"'
    const before = ['unshare', ...unshared(), 'sh', '-ec', mount, disk]
    const settings = 'storage.writeBufferMegabytes = 1\n'
    const node = await NodeProcess.start(['--data-dir', join(disk, 'data')], settings, { before })
    const [from] = await node.result<[string]>('eth_accounts')
    const send = () => node.ask('eth_sendTransaction', [{ from, to: from, data: `0x${'5a'.repeat(1000)}` }])
    const hash = (await send()).result
    expect(hash).toBeDefined()

    // The mounted file system is visible in the namespace of the node only.
    const ballast = `/proc/${node.child.pid}/root${disk}/ballast`
    fill(ballast)
    let refused = await send()
    for (let count = 0; refused.error === undefined && count < 1000; count++) refused = await send()
    expect(refused.error).toEqual({ code: -32002, message: 'The node cannot write: no space left on its disk' })
    const health = await fetch(`${node.url}/health`)
    expect(health.status).toBe(503)
    const reasons = ['the node cannot write: no space left on its disk']
    expect(await health.json()).toMatchObject({ live: true, ready: false, reasons })
    const head = await node.result('eth_blockNumber')
    expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })

    rmSync(ballast)
    while ((await fetch(`${node.url}/health`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await node.result('eth_blockNumber')).toBe(head)
    expect((await send()).error).toBeUndefined()
    expect(Number(await node.result('eth_blockNumber'))).toBe(Number(head) + 1)
    expect(await node.stop()).toBe(0)
  })
})

describe('a first import that is interrupted', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    // The reader of its output leaves.
    ['SIGPIPE', 141],
  ] as const)(
    'behavior: its blocks stay after %s, and the same command continues',
    {
      timeout: minute,
    },
    async (signal, expected) => {
      const flags = ['--chain', chain, '--data-dir', join(folder, `interrupted-${signal}`)]
      const command = [program, 'import', part, '--json', ...flags]
      const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
      const interrupt = () => (signal === 'SIGPIPE' ? child.stdout.destroy() : child.kill(signal))
      child.stdout.once('data', interrupt).resume()
      const code = await new Promise((resolve) => child.once('close', resolve))
      const kept = JSON.parse((await runCommand(['info', '--json', ...flags])).output) as { number: number }
      expect([code, kept.number > 0, kept.number < partBlocks]).toEqual([expected, true, true])
      const { output } = await runCommand(['import', part, ...flags])
      expect(output).toContain(`known ${kept.number}, head ${partEnd.number}`)
    },
  )

  test('behavior: it ends although its source is silent', { timeout: minute }, async () => {
    const pipe = join(folder, 'silent')
    spawnSync('mkfifo', [pipe])
    const source = openSync(pipe, 'r+')
    const data = join(folder, 'waiting')
    const command = [program, 'import', pipe, '--json', '--chain', chain, '--data-dir', data]
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (bytes) => {
      errors += bytes
    })
    const closed = new Promise((resolve) => child.once('close', resolve))
    // The node files are the last part of a new database.
    while (!existsSync(join(data, 'chain', 'nodes'))) await new Promise((resolve) => setTimeout(resolve, 100))
    await new Promise((resolve) => setTimeout(resolve, 500))
    child.kill('SIGINT')
    const code = await closed
    closeSync(source)
    expect([code, errors]).toEqual([130, ''])
  })
})

describe('a data directory without its list of files', () => {
  test('error: each command names the missing file and deletes nothing', { timeout: minute }, async () => {
    const data = join(folder, 'incomplete')
    const flags = ['--chain', chain, '--data-dir', data]
    expect(await runCommand(['import', golden.file(30), ...flags])).toMatchObject({ code: 0 })
    const current = join(data, 'chain', 'CURRENT')
    const list = readFileSync(current)
    rmSync(current)
    const files = readdirSync(join(data, 'chain')).sort()
    const commands = [
      ['import', part],
      ['info'],
      ['prune'],
      ['verify', '--from', '1', '--to', '2'],
      ['rewind', '--to', '1'],
      ['start', '--http-port', '0'],
    ]
    for (const command of commands) {
      const { code, errors } = await runCommand([...command, ...flags])
      expect([code, errors], command[0]).toEqual([1, expect.stringMatching(/is damaged: chain\/CURRENT is missing/)])
      expect(readdirSync(join(data, 'chain')).sort()).toEqual(files)
    }
    writeFileSync(current, list)
    expect(await golden.expectConsistent(data)).toBe(30)
  })
})

describe('a directory without write permission', () => {
  const data = join(folder, 'kept')
  const flags = ['--chain', chain, '--data-dir', data]
  const blocks = 100
  const some = golden.file(blocks)

  test('error: import and start exit with code 1, commands that read work', {
    timeout: 5 * minute,
  }, async (context) => {
    const isRoot = process.getuid?.() === 0
    if (isRoot && !canMount()) return context.skip('root may write everywhere, and mounting is not permitted')
    expect((await runCommand(['import', some, ...flags])).code).toBe(0)
    const refused = [step('import', ['import', some, ...flags]), step('start', ['start', '--http-port', '0', ...flags])]
    const reads = [
      ['info'],
      ['verify', '--from', '1', '--to', String(blocks), '--state'],
      ['export', join(folder, 'exported'), '--from', '1', '--to', '2'],
      ['archive', 'create', join(folder, 'archive'), '--key', join(folder, 'archive.key')],
    ].map((command) => step(command[0] ?? '', [...command, ...flags]))
    const readOnly = ['remount,ro,bind', data]
    let ended: Map<string, ProgramResult>
    if (isRoot) {
      ended = await mounted([['mount', '--bind', data, data], ['mount', '-o', ...readOnly], ...refused, ...reads])
    } else {
      chmodSync(data, 0o555)
      ended = await steps('sh', ['-e', '-c', script([...refused, ...reads])])
      chmodSync(data, 0o755)
    }
    const reason = `rhizome: data directory ${data} cannot be used: (Read-only file system|Permission denied)`
    expect(ended.size).toBe(refused.length + reads.length)
    for (const name of ['import', 'start']) {
      expect(ended.get(name)).toEqual({ code: 1, output: '', errors: expect.stringMatching(reason) })
    }
    for (const name of ['info', 'verify', 'export', 'archive']) {
      expect([name, ended.get(name)?.code, ended.get(name)?.errors]).toEqual([name, 0, ''])
    }
    expect(await golden.expectConsistent(data)).toBe(blocks)
    await golden.expectImport(data, partBlocks)
  })
})

/** Fills a disk with a file. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    // In ever smaller writes, until not a byte is left.
    for (let bytes = 1 << 20; bytes >= 512; bytes /= 2) {
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(file)
  }
}

/** Returns whether file systems can be mounted in a private namespace of the test's commands. */
function canMount(): boolean {
  if (process.platform !== 'linux') return false
  const place = join(folder, 'probe')
  if (!existsSync(place)) mkdirSync(place)
  return spawnSync('unshare', [...unshared(), 'mount', '-t', 'tmpfs', 'tmpfs', place]).status === 0
}

function unshared(): string[] {
  return process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
}

/** Returns a shell command that runs the program and prints its end as one line of JSON. */
function step(name: string, parameters: Command): Command {
  return [process.execPath, stepProgram, name, program, ...parameters]
}

/** Runs commands in a separate mount namespace, so that nothing stays mounted after a failure. */
function mounted(commands: readonly Command[]): Promise<Map<string, ProgramResult>> {
  return steps('unshare', [...unshared(), 'sh', '-e', '-c', script(commands)])
}

async function steps(command: string, parameters: readonly string[]): Promise<Map<string, ProgramResult>> {
  const { code, output, errors } = await runProgram(parameters, command)
  expect([code, errors]).toEqual([0, ''])
  const lines = output.trim().split('\n')
  return new Map(lines.map((line) => JSON.parse(line) as [string, ProgramResult]))
}

function script(commands: readonly Command[]): string {
  return commands.map((command) => command.map((word) => `'${word}'`).join(' ')).join('\n')
}
