/** JSON text of a parameter that is too large to be parsed on a worker. */
export class LargeText {
  readonly #read: () => Buffer
  #bytes: Buffer | undefined

  /** `read` returns the text in UTF-8. It is called on first use: texts that only the core reads are not copied. */
  constructor(read: () => Buffer) {
    this.#read = read
  }

  get bytes(): Buffer {
    this.#bytes ??= this.#read()
    return this.#bytes
  }

  /** Characters between the quotation marks of a string without escapes; undefined for other values. */
  get content(): Buffer | undefined {
    const isText = this.bytes[0] === quote && !this.bytes.includes(backslash)
    return isText ? this.bytes.subarray(1, -1) : undefined
  }
}

const quote = 0x22
const backslash = 0x5c
