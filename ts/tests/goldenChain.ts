import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { runCommand } from './node.ts'

/** A block as recorded from the reference node. */
export interface RecordedBlock {
  readonly number: number
  readonly hash: string
  readonly stateRoot: string
}

/** 2,000 full blocks of the reference node, as files for `rhizome import`. */
export class GoldenChain {
  /** The chain file, for the flag `--chain`. */
  readonly specification: string
  readonly #folder: string
  readonly #lines: readonly string[]
  readonly #blocks: readonly RecordedBlock[]

  constructor(folder: string) {
    this.#folder = folder
    this.specification = join(folder, 'load.json')
    this.#lines = vector('load.blocks.txt.gz').toString().trim().split('\n')
    const { spec, blocks } = JSON.parse(vector('load.json.gz').toString())
    writeFileSync(this.specification, JSON.stringify(spec))
    this.#blocks = blocks
  }

  /** Returns a file with the first `count` blocks, or all. */
  file(count = this.#lines.length): string {
    const path = join(this.#folder, `${count}.blocks`)
    writeFileSync(path, `${this.#lines.slice(0, count).join('\n')}\n`)
    return path
  }

  /** Returns the last of the first `count` blocks. */
  block(count = this.#lines.length): RecordedBlock {
    const { number, hash, stateRoot } = this.#blocks[count - 1] as RecordedBlock
    return { number, hash, stateRoot }
  }

  /**
   * Opens a data directory, executes its last blocks again, and compares the flat state with the trie. Returns the number of
   * the head.
   */
  async expectConsistent(data: string): Promise<number> {
    const flags = ['--json', '--chain', this.specification, '--data-dir', data]
    const info = await runCommand(['info', ...flags])
    expect([info.code, info.errors]).toEqual([0, ''])
    const { number, hash } = JSON.parse(info.output) as RecordedBlock
    if (number > 0) expect(hash).toBe(this.block(number).hash)
    const range = ['--from', `${Math.max(0, number - 5)}`, '--to', `${number}`]
    const verified = await runCommand(['verify', ...range, '--state', ...flags])
    expect([verified.code, verified.errors]).toEqual([0, ''])
    const { keys, difference } = JSON.parse(verified.output) as { keys: number; difference: unknown }
    expect(difference).toBeNull()
    expect(keys).toBeGreaterThan(0)
    return number
  }

  /** Imports the first `count` blocks, some of which may be there, and compares the final state with the recording. */
  async expectImport(data: string, count?: number): Promise<void> {
    const flags = ['--chain', this.specification, '--data-dir', data]
    const rest = await runCommand(['import', this.file(count), ...flags])
    expect([rest.code, rest.errors]).toEqual([0, ''])
    const info = await runCommand(['info', '--json', ...flags])
    expect(JSON.parse(info.output)).toMatchObject(this.block(count))
    expect(await this.expectConsistent(data)).toBe(this.block(count).number)
  }
}

function vector(name: string): Buffer {
  return gunzipSync(readFileSync(fileURLToPath(new URL(`../../tests/vectors/chains/${name}`, import.meta.url))))
}
