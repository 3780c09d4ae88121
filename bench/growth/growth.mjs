// A state that grows to millions of entries: cost of a block, reads, disk and memory at several sizes, then operations on the
// data directory at the last size.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRhizome } from '../targets/rhizome.mjs'
import { entriesOfBlock, growthChain } from './chain.mjs'
import { diskByKind, diskBytes, dropPages, warmPages } from './disk.mjs'
import { copyLines, importBlocks } from './import.mjs'
import { limitMemory } from './limit.mjs'
import { measureReads, oldestKept, randomFrom, readsOf } from './reads.mjs'
import { measureUpkeep } from './upkeep.mjs'

const thisProgram = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
/** Blocks at the end of a part that count for the cost of a block at that size. */
const window = 100
/** Mainnet-like blocks that are imported before the measured ones, and with a warm page cache. */
const warmUp = 100
const warmBlocks = 500
const [warmReads, coldReads] = [300, 30]

/** Kinds of files with blocks, receipts and their indexes. */
const ofBlocks = /^(column (blocks|heights|receipts|transactions|logs|default)|other files)$/

/**
 * `entries` is the last size, `memory` a limit for all imports in MB, `program` the node of another checkout, `dataDir` an empty
 * folder to keep.
 */
export async function run(report, { isQuick = false, entries, memory, program, dataDir }) {
  if (process.platform !== 'linux') throw new Error('growth reads /proc, which only Linux has')
  const say = (text) => process.stderr.write(`${text}\n`)
  const chain = await growthChain(entries ?? (isQuick ? 200_000 : 1_000_000), say)
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-growth-'))
  const data = dataDir ?? join(folder, 'data')
  if (existsSync(join(data, 'chain'))) throw new Error(`${data} has a chain already`)
  mkdirSync(data, { recursive: true })
  const limit = memory === undefined ? undefined : limitMemory(memory)
  if (limit?.reason !== undefined) throw new Error(`memory cannot be limited: ${limit.reason}`)
  const node = { program: program ?? thisProgram, flags: ['--chain', chain.spec, '--data-dir', data], dataDir: data }
  const bench = { node, folder, limit: limit?.command, imported: [], readBytes: 0, say }
  try {
    for (const part of chain.parts) {
      const size = `${part.size / 1e6} M`
      const figure = (name, value, unit) => report({ name: `${size}: ${name}`, size, figure: name, value, unit })
      if (!(await grow(bench, part.growth, figure))) return
      await read(bench, figure)
      if (part === chain.parts.at(-1)) await measureUpkeep(bench, figure)
      await importMainnetLike(bench, part.mainnet, figure)
      await update(bench, part.updates, figure)
      if (part === chain.parts.at(-1)) prune(bench, part.size, figure)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    limit?.remove()
  }
}

/** Grows the state to the next size. Returns false if the node was killed. */
async function grow(bench, part, figure) {
  const { node, limit, imported, say } = bench
  const blocks = part.to - part.from + 1
  const entries = blocks * entriesOfBlock
  say(`importing ${blocks.toLocaleString('en')} blocks`)
  let mostDisk = 0
  const watchDisk = () => {
    mostDisk = Math.max(mostDisk, diskBytes(node.dataDir))
  }
  const watch = setInterval(watchDisk, 1000)
  const measured = Math.min(window, blocks - 1)
  const result = await importBlocks(node, { ...part, blocks, window: measured, limit })
  clearInterval(watch)
  watchDisk()
  if (result.failure !== undefined) {
    figure(`growing, ${result.failure}`, result.peakKib / 1024, 'MiB')
    return false
  }
  imported.push(part)
  tellCost(figure, `block of ${entriesOfBlock} new entries`, result.window, result.windowSeconds, measured)
  const { total } = result
  const each = (name, bytes) => figure(`${name} for a new entry`, bytes / entries, 'bytes')
  each('read by the foreground', total.readBytes)
  each('read in the background', total.background.readBytes)
  each('read from the device', total.deviceReadBytes)
  each('written by the foreground', total.writtenBytes)
  each('written in the background', total.background.writtenBytes)
  each('written to the device', total.deviceWrittenBytes)
  bench.readBytes += total.readBytes
  const state = part.growthBlocks * entriesOfBlock
  figure('read by the foreground for a new entry, so far', bench.readBytes / state, 'bytes')
  figure('resident memory after the last block', total.memoryKib / 1024, 'MiB')
  figure('resident memory without files', total.anonymousKib / 1024, 'MiB')
  figure('resident memory at its highest', result.peakKib / 1024, 'MiB')
  figure('end of the import after its last block', result.endSeconds, 's')
  figure('disk at its highest', mostDisk / 2 ** 20, 'MiB')
  tellDisk(figure, node, state)
  return true
}

function tellCost(figure, name, sample, seconds, blocks) {
  figure(`${name}, foreground processor time`, sample.processorMs / blocks, 'ms')
  figure(`${name}, background processor time`, sample.background.processorMs / blocks, 'ms')
  figure(`${name}, time`, (seconds * 1000) / blocks, 'ms')
  figure(`${name}, read by the foreground`, sample.readBytes / blocks / 1024, 'KiB')
}

function tellDisk(figure, node, entries) {
  const kinds = Object.entries(settledDisk(node)).toSorted(([, one], [, other]) => other - one)
  figure('disk', sum(kinds) / 2 ** 20, 'MiB')
  for (const [kind, size] of kinds) if (size >= 2 ** 20) figure(`disk, ${kind}`, size / 2 ** 20, 'MiB')
  figure('disk for an entry', sum(kinds) / entries, 'bytes')
  figure('disk for an entry, state and history', stateBytes(kinds) / entries, 'bytes')
}

/** Returns the sizes of the files by kind. Opening the database empties the write-ahead log into its columns. */
function settledDisk(node) {
  execFileSync(process.execPath, [node.program, 'info', ...node.flags, '--json'], { stdio: 'ignore' })
  return diskByKind(node.dataDir)
}

/** Returns the size of the files without blocks, receipts and their indexes. */
function stateBytes(kinds) {
  return sum(kinds.filter(([kind]) => !ofBlocks.test(kind)))
}

function sum(kinds) {
  return kinds.reduce((bytes, [, size]) => bytes + size, 0)
}

/** Compacts the database, and measures its files. */
function prune({ node, say }, entries, figure) {
  say('pruning')
  const began = performance.now()
  execFileSync(process.execPath, [node.program, 'prune', ...node.flags, '--json'], { stdio: 'ignore' })
  figure('prune', (performance.now() - began) / 1000, 's')
  const kinds = Object.entries(settledDisk(node))
  figure('disk for an entry, state and history, after prune', stateBytes(kinds) / entries, 'bytes')
}

/** Latency of reads: after a warm-up, then after starts without the page cache of the data directory. */
async function read(bench, figure) {
  const { node, imported, say } = bench
  say('reading')
  warmPages(node.dataDir)
  const tell = (name, { failure, median, p90 }) => {
    if (failure !== undefined) return figure(name, 0, `failed: ${failure}`)
    figure(`${name}, median`, median, 'ms')
    figure(`${name}, 90 %`, p90, 'ms')
  }
  let reads = []
  await withNode(node, async ({ url }) => {
    const oldest = await oldestKept(url, imported.at(-1).to)
    reads = Object.entries(readsOf(imported, oldest, randomFrom(1)))
    tell('eth_chainId', await measureReads(url, () => ({ method: 'eth_chainId', params: [] }), warmReads))
    for (const [name, make] of reads) {
      await measureReads(url, make, warmReads / 3)
      tell(`${name}, warm`, await measureReads(url, make, warmReads))
    }
  })
  for (const [name, make] of reads) {
    dropPages(node.dataDir)
    await withNode(node, async ({ url }) =>
      tell(`${name}, dropped page cache`, await measureReads(url, make, coldReads)),
    )
  }
}

async function withNode(node, work) {
  const target = await startRhizome({ program: node.program, flags: [...node.flags, '--mining', 'off'], workers: 1 })
  try {
    return await work(target)
  } finally {
    await target.stop()
  }
}

/** Imports blocks of four small transactions: the first half with a warm page cache, the second without. */
async function importMainnetLike({ node, folder, limit, imported, say }, part, figure) {
  say('importing mainnet-like blocks')
  const blocks = part.to - part.from + 1
  const half = join(folder, 'half.blocks')
  const halves = [
    { name: 'mainnet-like block, warm', skip: 0, count: warmBlocks, measured: warmBlocks - warmUp },
    { name: 'mainnet-like block, dropped page cache', skip: warmBlocks, count: blocks - warmBlocks },
  ]
  for (const { name, skip, count, measured = count - 1 } of halves) {
    const hash = await copyLines([part.file], skip, count, half)
    if (skip > 0) dropPages(node.dataDir)
    // Pages that another process has read do not count against the limit.
    else if (limit === undefined) warmPages(node.dataDir)
    const result = await importBlocks(node, { file: half, blocks: count, hash, window: measured, limit })
    if (result.failure !== undefined) throw new Error(result.failure)
    tellCost(figure, name, result.window, result.windowSeconds, measured)
  }
  imported.push(part)
}

async function update({ node, limit, imported, say }, part, figure) {
  say('importing random updates')
  const blocks = part.to - part.from + 1
  const measured = Math.min(window, blocks - 1)
  const result = await importBlocks(node, { ...part, blocks, window: measured, limit })
  if (result.failure !== undefined) throw new Error(result.failure)
  tellCost(figure, 'block of 400 updates', result.window, result.windowSeconds, measured)
  imported.push(part)
}
