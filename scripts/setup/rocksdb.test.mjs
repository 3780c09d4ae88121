import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { flags, locate, rocksdbEnvironment, withoutCounters } from './rocksdb.mjs'

afterEach(() => vi.unstubAllEnvs())

const root = fileURLToPath(new URL('../..', import.meta.url))
const linux = process.platform === 'linux'

test.skipIf(!linux)("behavior: RocksDB is compiled with the definitions of the crate's build script", () => {
  const script = readFileSync(join(locate(root, process.env).folder, 'build.rs'), 'utf8')
  const body = /^fn build_rocksdb\(\) \{\n([\s\S]*?)\n\}\n/m.exec(script)?.[1] ?? ''
  const features = ['lz4', 'zstd'].map((name) => block(body, `if cfg!(feature = "${name}") {`))
  const system = /else if target\.contains\("linux"\) \{([\s\S]*?)\n {4}\}/.exec(body)?.[1] ?? ''
  const always = [...body.matchAll(/^ {4}config\.define\(.*/gm)].map(([line]) => line).join('\n')
  const wanted = [...features, system, always, block(body, 'if !target.contains("msvc") {')]
    .flatMap((text) => [...text.matchAll(/config\.define\("(\w+)", (?:Some\("(\w+)"\)|None)\)/g)])
    .map(([, name, value]) => (value === undefined ? `-D${name}` : `-D${name}=${value}`))
  expect(wanted).toHaveLength(12)
  expect(flags.filter((flag) => flag.startsWith('-D')).sort()).toEqual([...wanted, ...withoutCounters].sort())
  expect(script).toContain(`"${flags.find((flag) => flag.startsWith('-std='))}"`)
})

test.skipIf(process.arch !== 'x64')('behavior: and for the processor that the crates are compiled for', () => {
  const cargo = readFileSync(join(root, '.cargo/config.toml'), 'utf8')
  const [, processor, feature] = /target-cpu=([\w-]+)", "-Ctarget-feature=\+(\w+)"/.exec(cargo) ?? []
  expect([processor, feature]).toEqual(['x86-64-v2', 'pclmulqdq'])
  if (linux) expect(flags).toEqual(expect.arrayContaining([`-march=${processor}`, '-mpclmul']))
})

test.skipIf(!linux)('behavior: an interrupted compilation continues, and is shared by all checkouts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-rocksdb-'))
  const [compiler, log, mended] = ['c++', 'log', 'mended'].map((name) => join(folder, name))
  // Compiles six files, then fails until it is mended.
  const program = `#!/bin/sh
    test "$1" = --version && exec echo fake
    for output; do :; done
    test -e ${mended} || test $(cat ${log} | wc -l) -lt 6 || exit 1
    echo "$output" >> ${log}
    printf '.cfi_startproc\\nnop\\n.cfi_endproc\\n' | as -o "$output"`
  writeFileSync(compiler, program, { mode: 0o755 })
  writeFileSync(log, '')
  vi.stubEnv('CXX', compiler)
  vi.stubEnv('XDG_CACHE_HOME', folder)
  const heard = []
  const compile = () => rocksdbEnvironment(root, process.env, (done) => heard.push(done))
  await expect(compile()).rejects.toThrow(/failed \(exit code 1\)\. With ROCKSDB_COMPILE=1 in the environment/)
  const before = heard.at(-1)
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(1)

  writeFileSync(mended, '')
  const { ROCKSDB_LIB_DIR: place } = await compile()
  expect(existsSync(join(place, 'librocksdb.a'))).toBe(true)
  expect(heard.at(-1)).toBeCloseTo(1)
  const units = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((path) => /unit-\w+-\d+/.exec(path)?.[0])
  expect(new Set(units).size).toBe(32)
  expect(units).toHaveLength(32)
  expect(readdirSync(join(folder, 'rhizome')).filter((name) => name.startsWith('rocksdb'))).toHaveLength(1)
  const sections = execFileSync('readelf', ['-SW', join(place, 'librocksdb.a')], { encoding: 'utf8' }).split('File: ')
  const withTables = sections.filter((one) => one.includes(' .eh_frame ')).map((one) => /unit-\w+-\d+/.exec(one)?.[0])
  expect(withTables).toEqual(['unit-throwing-0'])

  heard.length = 0
  expect(await compile()).toEqual({ ROCKSDB_LIB_DIR: place, ROCKSDB_STATIC: '1' })
  expect(heard).toEqual([])
})

function block(text, start) {
  const from = text.indexOf(start)
  return from === -1 ? '' : text.slice(from, text.indexOf('\n    }', from))
}
