// Profiles a program with Linux `perf`, which samples the running function some thousand times a second.
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { scratchFolder } from '../targets/target.mjs'

const looksPerSecond = 1999
const seconds = 2
const shownFunctions = 8
const runFile = promisify(execFile)
let isAllowed

/** Whether `perf` is installed and permitted. */
export function canProfile() {
  isAllowed ??= spawnSync('perf', ['record', '--output', join(scratchFolder('perf'), 'try'), 'true']).status === 0
  return isAllowed
}

/** Profiles a running process while `work` is repeated. */
export async function profileProcess(pid, work) {
  let isOver = false
  const recorded = record(['--pid', `${pid}`, '--', 'sleep', `${seconds}`]).finally(() => {
    isOver = true
  })
  do await work()
  while (!isOver)
  return readProfile(await recorded)
}

/** Profiles a command from its start to its end. */
export async function profileCommand(command, parameters) {
  return readProfile(await record(['--', command, ...parameters]))
}

async function record(what) {
  const file = join(scratchFolder('perf'), 'data')
  await runFile('perf', ['record', '--freq', `${looksPerSecond}`, '--output', file, ...what])
  const { stdout } = await runFile(
    'perf',
    // Without inlined functions: their names take minutes to resolve.
    ['report', '--stdio', '--no-inline', '--input', file, '--sort', 'comm,dso,symbol', '--field-separator', '\t'],
    { maxBuffer: 1 << 28 },
  )
  return stdout
}

/**
 * Sums up the output of `perf report`. `parts`, `threads` and `functions` are lists of names and shares of the processor time,
 * in descending order.
 */
export function readProfile(text) {
  const parts = new Map()
  const threads = new Map()
  const functions = new Map()
  for (const line of text.split('\n')) {
    const [percent, thread, object, symbol] = line.split('\t').map((cell) => cell.trim())
    if (line.startsWith('#') || symbol === undefined) continue
    const share = Number.parseFloat(percent) / 100
    // The function follows a mark of its space: `[.]` for the program, `[k]` for the kernel.
    const name = symbol.replace(/^\[.\] /, '')
    const part = partOf(object, name)
    add(parts, part, share)
    add(threads, thread, share)
    if (!/^(0x|\[unknown)/.test(name)) add(functions, `${shortened(name)} (${part})`, share)
  }
  return { parts: dearest(parts), threads: dearest(threads), functions: dearest(functions).slice(0, shownFunctions) }
}

const add = (map, key, share) => map.set(key, (map.get(key) ?? 0) + share)
const dearest = (map) => [...map].map(([name, share]) => ({ name, share })).toSorted((a, b) => b.share - a.share)

/** Parts by file, then by function name; the first match counts. */
const kinds = [
  [/kernel|\.ko$/, [[/^(_*(tcp|ip|inet|sk|sock|skb|net|dev|ep)_|loopback|eth_)/, 'kernel: sockets']], 'kernel'],
  [/^uws_/, [], 'uWebSockets.js'],
  [/^(\/\/anon|\[JIT\]|perf-\d+\.map|\[unknown\])/, [], 'JavaScript'],
  [
    /^node$/,
    [
      [/Builtins_/, 'JavaScript'],
      [/Json/, 'JSON.parse'],
      [/Scaveng|Sweep|Mark|Evacuat|Garbage|::Heap::|Safepoint/, 'garbage collection'],
      [/napi|v8impl/, 'Node-API'],
    ],
    'Node.js and V8',
  ],
  [/^(lib(c|m|gcc_s|stdc\+\+)\.so|libc-|ld-|\[vdso)/, [], 'C library'],
  [
    /^rhizome/,
    [
      [/recovery|secp256k1/, 'signatures'],
      [/rocksdb/, 'RocksDB'],
      [/keccak/i, 'Keccak'],
      [/rhizome_trie/, 'trie'],
      [/rhizome_storage|LZ4/, 'node files and rows'],
      [/rhizome_evm|revm/, 'virtual machine'],
      [/^_?mi_|alloc/, 'allocation'],
      [/hash|quick_cache|sort|bytes::|collections|sync::Arc/, 'maps, caches and bytes'],
    ],
    'rest of the addon',
  ],
]

function partOf(object, name) {
  const [, names, rest] = kinds.find(([file]) => file.test(object)) ?? [undefined, [], 'its program']
  return names.find(([pattern]) => pattern.test(name))?.[1] ?? rest
}

/** Removes the hash of Rust names and the parameters of C++ names. */
function shortened(name) {
  const short = name.replace(/::h[0-9a-f]{16}$/, '').replace(/\(.*$/, '')
  return short.length > 60 ? `${short.slice(0, 57)}...` : short
}
