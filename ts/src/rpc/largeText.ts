/** JSON text of a parameter that is too large to be parsed on a worker. */
export class LargeText {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Characters between the quotation marks of a string without escapes; undefined for other values. */
  get content(): Buffer | undefined {
    const isText = this.bytes[0] === quote && !this.bytes.includes(backslash)
    return isText ? this.bytes.subarray(1, -1) : undefined
  }
}

const quote = 0x22
const backslash = 0x5c
