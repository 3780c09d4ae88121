import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('testDisk.c', import.meta.url))

/** Indexes of the numbers in the control file, see `testDisk.c`. */
const places = { calls: 0, failFrom: 1, failUntil: 2, error: 3, cutAt: 4, seed: 5 }
const numbers = 8
const forever = 2n ** 63n

/** Returns why this machine cannot have a test disk; undefined if it can. */
export function testDiskObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux (LD_PRELOAD)'
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'needs a C compiler (cc)'
}

/** Builds the library in a folder and returns its path. */
export function buildTestDisk(folder: string): string {
  const library = join(folder, 'testDisk.so')
  const { status, stderr } = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'])
  if (status !== 0) throw new Error(`${source} cannot be compiled: ${stderr}`)
  return library
}

/** A folder whose writes fail and whose unsynced writes are lost, as `testDisk.c` describes. */
export class TestDisk {
  /** Environment variables of the process that writes into the folder. */
  readonly variables: Readonly<Record<string, string>>
  readonly #control: string

  constructor(library: string, folder: string) {
    mkdirSync(folder, { recursive: true })
    this.#control = `${folder}.control`
    writeFileSync(this.#control, Buffer.alloc(8 * numbers))
    // libuv could write through io_uring, which bypasses the C library.
    this.variables = { LD_PRELOAD: library, DISK_ROOT: folder, DISK_CONTROL: this.#control, UV_USE_IO_URING: '0' }
  }

  /** Returns the number of counted calls. */
  get calls(): number {
    const file = openSync(this.#control, 'r')
    const bytes = Buffer.alloc(8)
    readSync(file, bytes, 0, 8, 8 * places.calls)
    closeSync(file)
    return Number(bytes.readBigUInt64LE())
  }

  /** Makes the call `first`, counted from now, and those after it fail: `count` calls, or all until `heal`. */
  fail(error: 'ENOSPC' | 'EIO', first: number, count?: number): void {
    const from = BigInt(this.calls + first)
    this.#set('error', BigInt(constants.errno[error]))
    this.#set('failUntil', count === undefined ? forever : from + BigInt(count) - 1n)
    this.#set('failFrom', from)
  }

  /** Ends all failures. */
  heal(): void {
    this.#set('failFrom', 0n)
  }

  /** Cuts the power before the call `call`, counted from now. */
  cutPower(call: number, seed: number): void {
    this.#set('seed', BigInt(seed))
    this.#set('cutAt', BigInt(this.calls + call))
  }

  /** Restores the power after a cut. */
  restorePower(): void {
    this.#set('cutAt', 0n)
  }

  #set(name: keyof typeof places, value: bigint): void {
    const file = openSync(this.#control, 'r+')
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value)
    writeSync(file, bytes, 0, 8, 8 * places[name])
    closeSync(file)
  }
}
