import { Buffer } from 'node:buffer'

const firstBytes = 4096

/**
 * The pieces of a body, copied into blocks of growing size and joined once. So a client that sends single bytes causes
 * neither an allocation nor a copy of the whole body for each byte.
 */
export class Pieces {
  readonly #blocks: Buffer[] = []
  /** Used bytes of the last block. */
  #used = 0
  #length = 0
  #allocated = 0

  /** Returns the number of bytes added. */
  get length(): number {
    return this.#length
  }

  /** Returns the number of bytes that are allocated after adding `more` bytes. */
  allocatedWith(more: number): number {
    const missing = more - this.#room()
    return missing <= 0 ? this.#allocated : this.#allocated + this.#nextBlock(missing)
  }

  add(piece: Uint8Array): void {
    const fitting = Math.min(piece.length, this.#room())
    if (fitting > 0) this.#copy(piece.subarray(0, fitting))
    const rest = piece.subarray(fitting)
    if (rest.length === 0) return
    const block = Buffer.allocUnsafeSlow(this.#nextBlock(rest.length))
    this.#blocks.push(block)
    this.#allocated += block.length
    this.#used = 0
    this.#copy(rest)
  }

  joined(): Buffer {
    return Buffer.concat(this.#blocks, this.#length)
  }

  #copy(piece: Uint8Array): void {
    this.#blocks.at(-1)?.set(piece, this.#used)
    this.#used += piece.length
    this.#length += piece.length
  }

  #room(): number {
    return (this.#blocks.at(-1)?.length ?? 0) - this.#used
  }

  #nextBlock(missing: number): number {
    return Math.max(missing, firstBytes, this.#allocated)
  }
}
