import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

// Recorded requests and answers of the reference node, with the intended differences of this node.

/** index.json of a folder of transcripts. */
export interface Index {
  /** Settings of the reference node by name, as HOCON. */
  readonly profiles: Readonly<Record<string, string>>
  /** Settings with which the blocks of the recording were built. */
  readonly miner: { readonly extraData: string }
  readonly blockFiles: Readonly<Record<string, unknown>>
  readonly files: readonly FileEntry[]
}

export interface FileEntry {
  readonly file: string
  /** single: any order; reads: any order over imported blocks; scenario: one after the other. */
  readonly mode: 'single' | 'reads' | 'scenario'
  /** genesis, "import X, then Y", or "continues FILE". */
  readonly start: string
  readonly profile: string
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

export interface Step {
  readonly n: number
  readonly kind: 'rpc' | 'http' | 'socket' | 'ws' | 'ws-notifications' | 'mine' | 'import' | 'observation'
  /** Number of the best block before the step. */
  readonly headNumber?: number
  readonly request?: unknown
  readonly expand?: boolean
  readonly httpStatus?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly response?: unknown
  readonly responseText?: string
  readonly closed?: { readonly code: number }
  readonly captures?: Readonly<Record<string, string>>
  readonly binds?: Readonly<Record<string, string>>
  readonly expectBinds?: Readonly<Record<string, string>>
  readonly volatile?: readonly string[]
  readonly unordered?: readonly string[]
  readonly note?: string
  readonly conformance?: Conformance
}

export interface Conformance {
  readonly level: 'exact' | 'fix' | 'may'
  readonly withRemoved?: boolean
  readonly mayDiffer?: readonly string[]
  readonly product?: Product
}

/** Answers of this node that differ from the recording. */
export interface Product {
  readonly error?: readonly number[]
  readonly result?: unknown
  readonly min?: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly sameAs?: { readonly method: string; readonly params: readonly unknown[] }
  readonly httpStatus?: number | readonly number[]
  readonly response?: unknown
  readonly responseText?: string
  readonly text?: string
}

/** A folder of transcripts; each file may be compressed. */
export class Transcripts {
  readonly index: Index
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    this.index = JSON.parse(this.#read('index.json')) as Index
  }

  steps(file: string): readonly Step[] {
    return JSON.parse(this.#read(file)) as Step[]
  }

  /** Lines of a block file: number,hash,total difficulty,block. */
  blockLines(file: string): readonly string[] {
    return this.#read(file).trim().split('\n')
  }

  #read(name: string): string {
    const path = join(this.#folder, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : gunzipSync(readFileSync(`${path}.gz`)).toString()
  }
}

/** Expands `{{X*N}}` in a text to N times X. */
export function expanded(text: string): string {
  return text.replace(/\{\{(.+?)\*(\d+)\}\}/g, (_all, piece: string, count: string) => piece.repeat(Number(count)))
}
