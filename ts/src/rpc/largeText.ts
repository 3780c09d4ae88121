import type { LargeBody } from './largeBody.ts'

/** JSON text of a parameter that is too large to be parsed on a worker. */
export class LargeText {
  /** In bytes. */
  readonly length: number
  readonly #body: Pick<LargeBody, 'text' | 'bytes' | 'part'>
  readonly #start: number
  readonly #end: number
  #bytes: Buffer | undefined

  /** The text is the range from `start` to `end` of a body. It is copied on first use. */
  constructor(body: Pick<LargeBody, 'text' | 'bytes' | 'part'>, start: number, end: number) {
    this.#body = body
    this.#start = start
    this.#end = end
    this.length = end - start
  }

  get bytes(): Buffer {
    this.#bytes ??= this.#body.bytes(this.#start, this.#end)
    return this.#bytes
  }

  /** Content of a string between its quotation marks, for functions of the core, without a copy; undefined for other values. */
  get content(): object | undefined {
    const isText = this.#body.text(this.#start, this.#start + 1) === '"'
    return isText ? this.#body.part(this.#start + 1, this.#end - 1) : undefined
  }
}
