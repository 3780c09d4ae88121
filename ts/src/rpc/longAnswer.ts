import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'

/** Finished JSON text that is sent to a client. */
export type Message = string | LongAnswer

/** Returns the size in bytes. */
export function byteLength(text: Message | Buffer): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length
}

/**
 * Returns the whole message: for short messages, and for sockets that cannot take parts. The bytes are valid until the next
 * call, because sockets copy them at once.
 */
export function wholeMessage(message: Message): string | Buffer {
  return typeof message === 'string' ? message : message.whole(scratch)
}

/** Memory for whole messages: new memory for each answer would cost as much as sending it. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024)

/** Returns text for any number of answers. Its memory cannot be freed with one of them. */
export function sharedText(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)))
  bytes.write(text)
  return bytes
}

/**
 * Long answer: pieces that are never joined. Joining and encoding the answers of a batch takes tens of milliseconds, in
 * which a worker serves no other caller. So each part is encoded when the socket takes it.
 */
export class LongAnswer {
  /** In bytes. */
  readonly length: number
  readonly #pieces: readonly (string | Buffer)[]
  /** Offset of each piece, and the length of all. */
  readonly #offsets: number[] = [0]
  /** Last piece that was read, encoded. */
  #current: Buffer = empty
  #currentIndex = -1

  constructor(pieces: readonly (string | Buffer)[]) {
    this.#pieces = pieces
    let length = 0
    for (const piece of pieces) {
      length += byteLength(piece)
      this.#offsets.push(length)
    }
    this.length = length
  }

  /** The pieces outside of the heap. */
  get buffers(): readonly Buffer[] {
    return this.#pieces.filter((piece) => typeof piece !== 'string')
  }

  /** Returns the pieces of a message for a larger message. */
  static piecesOf(message: Message): readonly (string | Buffer)[] {
    return typeof message === 'string' ? [message] : message.#pieces
  }

  /** Copies bytes from `offset` on into `target`. Returns their number: less than the target's length only at the end. */
  copy(offset: number, target: Buffer): number {
    let index = this.#indexAt(offset)
    let copied = 0
    while (copied < target.length && index < this.#pieces.length) {
      const start = offset + copied - (this.#offsets[index] as number)
      copied += this.#encoded(index).copy(target, copied, start)
      index++
    }
    return copied
  }

  /** Joins the pieces: to text if all are text, else in `memory` if it is large enough. */
  whole(memory: Buffer): string | Buffer {
    const [only = ''] = this.#pieces
    if (this.#pieces.length < 2) return only
    if (this.#pieces.every((piece) => typeof piece === 'string')) return this.#pieces.join('')
    const bytes = this.length > memory.length ? Buffer.allocUnsafeSlow(this.length) : memory.subarray(0, this.length)
    this.copy(0, bytes)
    return bytes
  }

  /** Returns a stream of the pieces. */
  toStream(): Readable {
    return Readable.from(this.#pieces)
  }

  #encoded(index: number): Buffer {
    if (index !== this.#currentIndex) {
      const piece = this.#pieces[index] as string | Buffer
      this.#current = typeof piece === 'string' ? Buffer.from(piece) : piece
      this.#currentIndex = index
    }
    return this.#current
  }

  /** Returns the index of the piece with the byte at `offset`. */
  #indexAt(offset: number): number {
    let index = Math.max(0, this.#currentIndex)
    while (index > 0 && offset < (this.#offsets[index] as number)) index--
    while (index < this.#pieces.length && offset >= (this.#offsets[index + 1] as number)) index++
    return index
  }
}

const empty = Buffer.alloc(0)
