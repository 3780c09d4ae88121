// RocksDB is nine tenths of the compilation at the first start. Its crate compiles 342 files one by one, and each includes
// the same headers. Here they are merged into some thirty files ("unity build", which RocksDB's makefile and CI also have),
// with the flags of the crate's build script, most of them for size. The library is cached for all checkouts of the user with
// the same sources, compiler and flags; ROCKSDB_LIB_DIR makes the crate link it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { dirname, join } from 'node:path'
import { cacheFolder } from './libclang.mjs'
import { outputOf, run, SetupError } from './run.mjs'

const crates = ['librocksdb-sys', 'lz4-sys', 'zstd-sys']
/** Memory of the compiler for the largest file. */
const bytesPerJob = 1.2e9

/** Sources in which reads, writes and merges spend their time: starts of their names, by folder. Others are compiled for size. */
const hot = {
  cache: ['cache_key', 'clock', 'lru', 'sharded'],
  db: [
    'arena',
    'db_iter',
    'dbformat',
    'log_writer',
    'memtable.',
    'merge_helper',
    'table_cache',
    'write_batch',
    'write_thread',
  ],
  'db/compaction': ['compaction_iterator'],
  memory: ['arena', 'concurrent'],
  memtable: ['skiplist'],
  table: ['block_fetcher', 'compaction_merging', 'format', 'get_context', 'iterator', 'merging', 'two_level'],
  'table/block_based': ['binary', 'block', 'data_block', 'filter', 'full', 'index', 'parsed', 'reader', 'uncompress'],
  util: ['coding', 'comparator', 'compression', 'crc32c', 'dynamic_bloom', 'hash', 'thread_local', 'xxhash'],
}

/** Sources that throw an exception, for the text of an option, and catch it. */
const throwing = {
  options: [''],
  'table/block_based': ['block_based_table_factory'],
  util: ['string_util'],
}

/** Files to compile: number, optimization level (that of RocksDB's makefile, or for size), and whether exceptions pass through. */
const groups = {
  hot: { count: 7, level: '-O2', throws: false },
  cold: { count: 24, level: '-Os', throws: false },
  throwing: { count: 1, level: '-Os', throws: true },
}

/** Definitions that leave out the counters and clocks of each call, which nothing reads. */
export const withoutCounters = ['-DNPERF_CONTEXT', '-DNIOSTATS_CONTEXT']

/** Flags of the crate's build script for Linux. */
export const flags = [
  ...withoutCounters,
  '-std=c++20',
  '-fPIC',
  '-ffunction-sections',
  '-fdata-sections',
  '-fno-rtti',
  '-w',
  '-include',
  'cstdint',
  ...(process.arch === 'x64' ? ['-march=x86-64-v2', '-mpclmul'] : []),
  ...['LZ4=1', 'ZSTD=1', 'NDEBUG=1', 'HAVE_ALIGNED_NEW', 'HAVE_UINT128_EXTENSION', 'OS_LINUX'].map(
    (name) => `-D${name}`,
  ),
  ...['ROCKSDB_PLATFORM_POSIX', 'ROCKSDB_LIB_IO_POSIX', 'ROCKSDB_SCHED_GETCPU_PRESENT'].map((name) => `-D${name}`),
  ...['ROCKSDB_AUXV_GETAUXVAL_PRESENT', 'ROCKSDB_FALLOCATE_PRESENT', 'ROCKSDB_RANGESYNC_PRESENT'].map(
    (name) => `-D${name}`,
  ),
]

/**
 * Tables for unwinding. They are removed from files through which no exception passes, and the linker then leaves out code that
 * only unwinding runs. There an exception (e.g. without memory) ends the process, as it does anyway in the calling Rust code.
 */
const tables = ['.eh_frame', '.rela.eh_frame']

const oneByOne = 'With ROCKSDB_COMPILE=1 in the environment the sources of RocksDB are compiled one by one.'

/** Returns whether set-up compiles RocksDB: on Linux, unless ROCKSDB_COMPILE or ROCKSDB_LIB_DIR is set. */
const isOurs =
  process.platform === 'linux' && process.env.ROCKSDB_LIB_DIR === undefined && process.env.ROCKSDB_COMPILE === undefined

/** Returns the environment for cargo. Compiles RocksDB if it is not in the cache; `report` is called with the finished fraction. */
export async function rocksdbEnvironment(root, env, report = () => undefined) {
  if (!isOurs) return {}
  const compiler = process.env.CXX ?? 'c++'
  const inputs = [sourcesIn(root), outputOf(compiler, ['--version']), flags, groups, hot, throwing, tables]
  const key = createHash('sha256').update(JSON.stringify(inputs)).digest('hex').slice(0, 16)
  const folder = join(cacheFolder(), `rocksdb-${key}`)
  if (!existsSync(join(folder, 'librocksdb.a'))) await compile(locate(root, env), compiler, folder, report)
  return { ROCKSDB_LIB_DIR: folder, ROCKSDB_STATIC: '1' }
}

/** Returns the crates with the sources, with versions and checksums from Cargo.lock. */
function sourcesIn(root) {
  const entries = readFileSync(join(root, 'Cargo.lock'), 'utf8').split('[[package]]')
  return crates.map((name) => entries.find((entry) => entry.includes(`\nname = "${name}"\n`)))
}

/** Returns the folders of these crates. */
export function locate(root, env) {
  const parameters = ['metadata', '--locked', '--format-version', '1']
  const output = outputOf('cargo', parameters, { cwd: root, env, maxBuffer: 2 ** 28 })
  if (output === undefined) {
    throw new SetupError('cargo metadata failed: Cargo.lock does not fit Cargo.toml, or crates.io cannot be reached')
  }
  const { packages } = JSON.parse(output)
  const [rocksdb, lz4, zstd] = crates.map((name) => dirname(packages.find((one) => one.name === name).manifest_path))
  return {
    folder: rocksdb,
    includes: ['rocksdb/include', 'rocksdb', '.', join(lz4, 'liblz4/lib'), join(zstd, 'zstd/lib')],
  }
}

/** Builds librocksdb.a in `folder`. Objects of an interrupted run are next to it and are not compiled again. */
async function compile({ folder: source, includes }, compiler, folder, report) {
  const library = join(folder, 'librocksdb.a')
  const partial = `${folder}.partial`
  mkdirSync(partial, { recursive: true })
  try {
    const units = unitsOf(source, partial)
    const total = units.reduce((sum, { bytes }) => sum + bytes, 0)
    let done = 0
    report(0)
    const waiting = [...units].sort((left, right) => right.bytes - left.bytes)
    const worker = async () => {
      for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) {
        const { path, object, bytes, level, throws } = unit
        if (!existsSync(object)) {
          const fresh = `${object}.${process.pid}`
          const parameters = [level, ...flags, ...includes.map((place) => `-I${place}`), '-c', path, '-o', fresh]
          await run(compiler, parameters, { cwd: source })
            .then(() => throws || run('objcopy', [...tables.map((name) => `--remove-section=${name}`), fresh]))
            .catch((error) => {
              waiting.length = 0
              throw error
            })
          renameSync(fresh, object)
        }
        done += bytes
        report(done / total)
      }
    }
    const jobs = Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / bytesPerJob)))
    // A failure is reported after all compilers have ended, because a later run writes the same files.
    const ends = await Promise.allSettled(Array.from({ length: jobs }, worker))
    const failure = ends.find(({ status }) => status === 'rejected')
    if (failure !== undefined) throw failure.reason
    const fresh = `librocksdb.a.${process.pid}`
    await run('ar', ['crs', fresh, ...units.map(({ object }) => object)], { cwd: partial })
    mkdirSync(folder, { recursive: true })
    renameSync(join(partial, fresh), library)
  } catch (error) {
    // A concurrent set-up may have finished first and removed the folder.
    if (existsSync(library)) return
    throw error instanceof SetupError ? new SetupError(`${error.message}. ${oneByOne}`) : error
  }
  rmSync(partial, { recursive: true, force: true })
}

/** Returns files to compile: neighbours of the crate's list are merged, so that files of a group have similar sizes. */
function unitsOf(source, folder) {
  const names = readFileSync(join(source, 'rocksdb_lib_sources.txt'), 'utf8').trim().split('\n')
  const sources = names.map((name) => name.trim()).filter((name) => !name.endsWith('build_version.cc'))
  const isIn = (folders, name) =>
    Object.entries(folders).some(([folder, starts]) => starts.some((start) => name.startsWith(`${folder}/${start}`)))
  const groupOf = (name) => (isIn(throwing, name) ? 'throwing' : isIn(hot, name) ? 'hot' : 'cold')
  return Object.keys(groups).flatMap((group) => {
    const paths = sources.filter((name) => groupOf(name) === group).map((name) => join(source, 'rocksdb', name))
    if (group === 'cold') paths.push(join(source, 'build_version.cc'))
    return grouped(paths, folder, group)
  })
}

function grouped(paths, folder, group) {
  const { count, level, throws } = groups[group]
  const files = paths.map((path) => ({ path, bytes: statSync(path).size }))
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const units = Array.from({ length: count }, (_, index) => ({
    path: join(folder, `unit-${group}-${index}.cc`),
    object: join(folder, `unit-${group}-${index}.o`),
    level,
    throws,
    bytes: 0,
    text: '',
  }))
  let before = 0
  for (const { path, bytes } of files) {
    const unit = units[Math.min(count - 1, Math.floor(((before + bytes / 2) / total) * count))]
    before += bytes
    unit.bytes += bytes
    unit.text += `#include "${path}"\n`
  }
  for (const { path, text } of units) writeFileSync(path, text)
  return units
}
