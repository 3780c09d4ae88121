import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { describeWithNats, NatsProcess } from './natsServer.ts'
import { NodeProcess, type ProgramResult, program, runCommand, runProgram, scratchFolder } from './node.ts'
import { S3Server } from './s3Server.ts'
import { buildTestDisk, TestDisk, testDiskObstacle } from './testDisk.ts'

// Each test starts several nodes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const folder = scratchFolder()
const key = join(folder, 'publisher.key')
const flagsOf = (name: string): string[] => ['--data-dir', join(folder, name)]
let publisher: string
let written: number

interface CreatedCheckpoint {
  readonly name: string
  readonly number: number
  readonly hash: string
  readonly files: number
  readonly bytes: number
  readonly written: number
  readonly publisher: string
}

interface BlockHead {
  readonly number: string
  readonly hash: string
}

function head(node: NodeProcess): Promise<BlockHead> {
  return node.result<BlockHead>('eth_getBlockByNumber', ['latest', false])
}

/** Mines in a data directory and stops the node. */
async function mine(name: string, blocks: number): Promise<void> {
  const node = await NodeProcess.start(flagsOf(name))
  for (let block = 0; block < blocks; block++) await node.result('evm_mine')
  expect(await node.stop()).toBe(0)
}

async function create(
  name: string,
  location: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<CreatedCheckpoint> {
  const parameters = ['snapshot', 'create', '--to', location, '--key', key, '--json', ...flagsOf(name)]
  const result = await runProgram([program, ...parameters], process.execPath, variables)
  expect(result).toMatchObject({ code: 0, errors: '' })
  return JSON.parse(result.output) as CreatedCheckpoint
}

/** Returns the files of a location that are pieces. */
function pieces(location: string): string[] {
  const names = readdirSync(location).filter((name) => name.endsWith('.piece'))
  return names.map((name) => join(location, name))
}

function startFrom(location: string, name: string, variables = {}, ...flags: string[]): Promise<NodeProcess> {
  const restore = ['--restore', location, '--trust', publisher]
  return NodeProcess.start([...restore, ...flagsOf(name), ...flags], undefined, { variables })
}

beforeAll(async () => {
  await mine('data', 30)
  const created = await create('data', join(folder, 'store'))
  publisher = created.publisher
  written = created.written
})

describe('checkpoints in a folder', () => {
  const store = join(folder, 'store')

  test('behavior: a checkpoint is listed, verified and restored', async () => {
    const again = await create('data', store)
    expect(again.number).toBe(30)
    // Each open of the database writes some small files.
    expect(again.written).toBeLessThan(written / 2)
    expect(existsSync(join(folder, 'data', 'copies'))).toBe(false)
    const listed = await runCommand(['snapshot', 'list', store, '--trust', publisher])
    expect(listed).toMatchObject({ code: 0, errors: '', output: expect.stringContaining(again.name) })
    const verified = await runCommand(['snapshot', 'verify', '--to', store, '--trust', publisher])
    expect(verified).toMatchObject({ code: 0, errors: '' })
    const restore = ['snapshot', 'restore', store, '--trust', publisher, ...flagsOf('restored')]
    expect(await runCommand(restore)).toMatchObject({ code: 0, errors: '' })
    const info = await runCommand(['info', '--json', ...flagsOf('restored')])
    expect(JSON.parse(info.output)).toMatchObject({ number: 30, hash: again.hash })
    const refused = await runCommand(restore)
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('it is not overwritten') })
  })

  test('behavior: a node is copied while it mines, and another one goes on from there', async () => {
    const mining = await NodeProcess.start(['--mining', 'interval=0.05', ...flagsOf('mining')])
    await expect.poll(async () => Number((await head(mining)).number)).toBeGreaterThan(5)
    const first = await create('mining', join(folder, 'mined'))
    await expect.poll(async () => Number((await head(mining)).number)).toBeGreaterThan(first.number)
    const second = await create('mining', join(folder, 'mined'))
    expect(second.number).toBeGreaterThan(first.number)
    expect(existsSync(join(folder, 'mining', 'copies'))).toBe(false)
    const restored = await startFrom(join(folder, 'mined'), 'continued')
    expect(await head(restored)).toMatchObject({ hash: second.hash })
    const tag = `0x${second.number.toString(16)}`
    expect(await mining.result<BlockHead>('eth_getBlockByNumber', [tag, false])).toMatchObject({ hash: second.hash })
    await restored.result('evm_mine')
    expect(Number((await head(restored)).number)).toBe(second.number + 1)
    expect(await restored.stop()).toBe(0)
    // The directory has a chain now.
    const kept = await startFrom(join(folder, 'missing'), 'continued')
    expect(Number((await head(kept)).number)).toBe(second.number + 1)
    expect(await kept.stop()).toBe(0)
    expect(await mining.stop()).toBe(0)
  })

  test('error: lost and damaged pieces, other keys and other networks, each by name', async () => {
    const location = join(folder, 'damaged')
    await create('data', location)
    const [piece = ''] = pieces(location)
    const intact = readFileSync(piece)
    const refusal = async (flags: readonly string[] = []): Promise<ProgramResult> => {
      const restore = ['start', '--restore', location, '--trust', publisher, '--http-port', '0', ...flagsOf('refused')]
      return runCommand([...restore, ...flags])
    }
    writeFileSync(piece, intact.subarray(0, intact.length / 2))
    expect(await refusal()).toMatchObject({ code: 1, errors: expect.stringContaining(`${piece}: damaged`) })
    rmSync(piece)
    expect(await refusal()).toMatchObject({ code: 1, errors: expect.stringContaining(`${piece}: does not exist`) })
    // Nothing unverified is served.
    const unfinished = await runCommand(['start', '--http-port', '0', ...flagsOf('refused')])
    expect(unfinished).toMatchObject({ code: 1, errors: expect.stringContaining('unfinished restore') })
    writeFileSync(piece, intact)
    const stranger = publisher.replace(/^0x0[23]/, (prefix) => (prefix === '0x02' ? '0x03' : '0x02'))
    expect(await refusal(['--trust', stranger])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not by the trusted key'),
    })
    expect(await refusal(['--network', 'testnet'])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not of this network'),
    })
    const untrusted = await runCommand(['start', '--restore', location, ...flagsOf('refused')])
    expect(untrusted).toMatchObject({ code: 2, errors: expect.stringContaining('fleet.restore: needs fleet.trust') })
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect(await runCommand(['snapshot', 'verify', empty])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('has no checkpoint'),
    })
    const restored = await startFrom(location, 'refused')
    expect(Number((await head(restored)).number)).toBe(30)
    expect(await restored.stop()).toBe(0)
  })
})

describe('checkpoints in S3', () => {
  test('behavior: an upload and a download that were killed go on', async () => {
    const server = await S3Server.start()
    const location = 's3://bucket/some/path'
    const { variables } = server
    const names = (): string[] => [...server.files.keys()].filter((name) => name.endsWith('.piece'))
    /** Kills a program when enough has crossed the network. */
    const killed = async (parameters: readonly string[], isEnough: () => boolean): Promise<void> => {
      server.pauseMs = 100
      const result = await runProgram([program, ...parameters], process.execPath, variables, (child) => {
        const timer = setInterval(() => {
          if (!isEnough()) return
          clearInterval(timer)
          child.kill('SIGKILL')
        }, 5)
      })
      expect(result.code).toBe(-1)
      server.pauseMs = 0
    }
    const creation = ['snapshot', 'create', location, '--key', key, ...flagsOf('data')]
    await killed(creation, () => names().length >= 2)
    const before = names().length
    expect([...server.files.keys()].some((name) => name.endsWith('latest'))).toBe(false)
    const created = await create('data', location, variables)
    expect(names().length).toBeGreaterThan(before)
    // The copy of the killed run was removed.
    expect(existsSync(join(folder, 'data', 'copies'))).toBe(false)
    server.reads.clear()
    const restore = ['start', '--restore', location, '--trust', publisher, '--http-port', '0', ...flagsOf('s3')]
    await killed(restore, () => server.reads.size >= 10)
    server.reads.clear()
    const node = await startFrom(location, 's3', variables)
    expect(await head(node)).toMatchObject({ hash: created.hash })
    expect([...server.reads].filter((name) => name.endsWith('.piece')).length).toBeLessThan(names().length)
    expect(await node.stop()).toBe(0)
    server.stop()
  })

  test('behavior: pieces that were cut or changed on the way are read again', async () => {
    const server = await S3Server.start()
    const { variables } = server
    const location = 's3://bucket/spoiled'
    const { hash } = await create('data', location, variables)
    // At most three for one piece.
    Object.assign(server.faults, { cut: 1, changed: 2 })
    const node = await startFrom(location, 'spoiled', variables)
    expect(await head(node)).toMatchObject({ hash })
    expect(server.faults).toEqual({ cut: 0, changed: 0 })
    expect(await node.stop()).toBe(0)
    server.faults.cut = 1000
    const restore = ['start', '--restore', location, '--trust', publisher, '--http-port', '0', ...flagsOf('cut')]
    const { code, errors } = await runProgram([program, ...restore], process.execPath, variables)
    expect([code, errors]).toEqual([1, expect.stringMatching(/\.piece: the answer ended early: /)])
    server.stop()
  })

  test('error: a list without an end', async () => {
    const server = await S3Server.start()
    const { variables } = server
    await create('data', 's3://bucket/endless', variables)
    server.listsAgain = true
    const creation = ['snapshot', 'create', '--to', 's3://bucket/endless', '--key', key, ...flagsOf('data')]
    const { code, errors } = await runProgram([program, ...creation], process.execPath, variables)
    expect([code, errors]).toEqual([1, expect.stringContaining('more than once')])
    server.stop()
  })
})

describeWithNats('a fleet with checkpoints', () => {
  let nats: NatsProcess
  let importer: NodeProcess
  const store = join(folder, 'fleet')
  const nodes: NodeProcess[] = []

  async function startNode(role: string, name: string, ...flags: string[]): Promise<NodeProcess> {
    const metrics = 'metrics.enabled = true\nmetrics.port = 0\n'
    const fleet = ['--workers', '2', '--fleet', role, '--fleet-url', nats.url]
    const node = await NodeProcess.start([...fleet, ...flagsOf(name), ...flags], metrics)
    nodes.push(node)
    return node
  }

  async function figure(node: NodeProcess, name: string): Promise<number> {
    const page = await (await fetch(node.metricsUrl ?? '')).text()
    return Number(new RegExp(`^${name}(?:{[^}]*})? (.*)$`, 'm').exec(page)?.[1])
  }

  async function mineMore(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) await importer.result('evm_mine')
  }

  async function agrees(node: NodeProcess): Promise<void> {
    const { hash } = await head(importer)
    await expect.poll(async () => (await head(node)).hash, { timeout: 60_000 }).toBe(hash)
  }

  beforeAll(async () => {
    nats = await NatsProcess.start()
    importer = await startNode('importer', 'importer')
    await mineMore(10)
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
    await nats.kill()
  })

  test('behavior: a replica begins with a checkpoint of the running importer, and follows the log', async () => {
    const created = await create('importer', store)
    const replica = await startNode('replica', 'new', '--restore', store, '--trust', publisher)
    expect(Number((await head(replica)).number)).toBeGreaterThanOrEqual(created.number)
    await mineMore(2)
    await agrees(replica)
  })

  test('behavior: a replica that the log has passed by restores a checkpoint while it serves', async () => {
    const late = await startNode('replica', 'late')
    await agrees(late)
    expect(await late.stop()).toBe(0)
    await mineMore(5)
    await create('importer', store)
    const genesis = await importer.result<BlockHead>('eth_getBlockByNumber', ['0x0', false])
    await nats.purge(`rhizome_${genesis.hash.slice(2)}_blocks`)
    await mineMore(1)
    const again = await startNode('replica', 'late', '--restore', store, '--trust', publisher)
    await agrees(again)
    await expect.poll(() => figure(again, 'rhizome_fleet_restores_total')).toBe(1)
    expect(await figure(again, 'rhizome_fleet_restore_total_bytes')).toBe(0)
    const board = readFileSync(new URL('../../docs/grafana.json', import.meta.url), 'utf8')
    const asked = new Set(board.match(/rhizome_fleet_\w+/g))
    expect(asked.size).toBeGreaterThan(5)
    for (const name of asked) expect([name, await figure(again, name)]).toEqual([name, expect.any(Number)])
    await mineMore(1)
    await agrees(again)
    await expect.poll(() => figure(again, 'rhizome_fleet_up')).toBe(1)
    // The database survives a restart.
    expect(await again.stop()).toBe(0)
    const restarted = await startNode('replica', 'late')
    await agrees(restarted)
  })
})

describe.skipIf(testDiskObstacle() !== undefined)('checkpoints on a full disk', () => {
  test('error: no part is served, and the next run completes the restore', async () => {
    const library = buildTestDisk(folder)
    const restore = ['snapshot', 'restore', join(folder, 'store'), '--trust', publisher, ...flagsOf('full')]
    for (const call of [3, 12, 25]) {
      const disk = new TestDisk(library, join(folder, 'full'))
      disk.fail('ENOSPC', call)
      const { code, errors } = await runProgram([program, ...restore], process.execPath, disk.variables)
      expect([call, code, errors]).toEqual([call, 1, expect.stringMatching(/no space left/i)])
      expect(existsSync(join(folder, 'full', 'chain'))).toBe(false)
    }
    expect(await runCommand(restore)).toMatchObject({ code: 0, errors: '' })
    const info = await runCommand(['info', '--json', ...flagsOf('full')])
    expect(JSON.parse(info.output)).toMatchObject({ number: 30 })
  })
})
