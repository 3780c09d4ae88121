// Random EVM programs: valid enough to run for a while, with all instructions that end a frame in between.

const op = {
  CALLDATALOAD: 0x35,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  EXTCODECOPY: 0x3c,
  RETURNDATACOPY: 0x3e,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  MSTORE8: 0x53,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  TLOAD: 0x5c,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  DUP1: 0x80,
  SWAP1: 0x90,
  LOG0: 0xa0,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
}
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
/** Two operands, one result. */
const binary = [
  ...range(0x01, 0x07),
  0x0a,
  0x0b,
  ...range(0x10, 0x14),
  ...range(0x16, 0x18),
  ...range(0x1a, 0x1d),
  0x20,
]
/** No operand, one result; 0xaa is TXINDEX, 0x5f is PUSH0. */
const sources = [0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, ...range(0x41, 0x48), 0x58, 0x59, 0x5a, 0x5f, 0xaa]
/** One operand, one result. */
const unary = [0x15, 0x19, 0x31, 0x35, 0x3b, 0x3f, 0x40, 0x51, 0x54, 0x5c]
/** Precompiles without the Bridge: before RSKIP-88 the reference cannot mine its calls by contracts. */
const precompiles = [...range(1, 9), 0x01000008, 0x01000009, 0x01000010, 0x01000011, 0x01000016, 0x01000017]
/** Added to addresses: an account is found by 20 bytes of the word, a precompile by all 32. */
const upperBytes = [2n ** 160n, 2n ** 255n]
const bn128Prime = 21888242871839275222246405745257275088696311157297823662689037894645226208583n
const secpPrime = 2n ** 256n - 2n ** 32n - 977n
const secpX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
const secpY = 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n
/** Points of both curves, lengths and scalars, as words. */
const operands = [
  [0, 0],
  [1, 2],
  [1, bn128Prime - 2n],
  [secpX, secpY],
  [secpX, secpPrime - secpY],
  [1, 32, 32],
  [0],
  [27],
  [28],
  [2n ** 256n - 1n],
]
/** Sizes of code around the limits. */
const codeSizes = [0, 1, 32, 100, 1000, 24_576, 24_577, 40_000]

/** Assembler for bytes of code, with the positions that jumps need. */
class Code {
  bytes = []
  /** Data after the code, with the positions in the code that contain its offset. */
  #data = []

  emit(...bytes) {
    this.bytes.push(...bytes)
    return this
  }

  push(value) {
    const digits = BigInt(value).toString(16)
    const padded = digits.length % 2 === 0 ? digits : `0${digits}`
    const bytes = padded.match(/../g).map((pair) => Number.parseInt(pair, 16))
    return this.emit(0x5f + bytes.length, ...bytes)
  }

  /** Copies bytes to the start of memory. */
  load(bytes) {
    this.push(bytes.length).emit(0x61, 0, 0).push(0).emit(op.CODECOPY)
    this.#data.push({ at: this.bytes.length - 5, bytes })
    return this
  }

  finish() {
    for (const { at, bytes } of this.#data) {
      this.bytes[at] = this.bytes.length >> 8
      this.bytes[at + 1] = this.bytes.length & 255
      this.bytes.push(...bytes)
    }
    return this.bytes
  }
}

/** Creates programs that call the addresses of `known`, which grows with new contracts. */
export class Programs {
  #random
  #known

  constructor(random, known) {
    this.#random = random
    this.#known = known
  }

  /** Returns code of a contract. `depth` limits nested creations. */
  contract(depth = 2) {
    const random = this.#random
    const code = new Code()
    const statements = 1 + random.below(14)
    for (let count = 0; count < statements; count++) this.#statement(code, depth)
    this.#end(code)
    return code.finish()
  }

  /** Returns init code of a contract, which usually returns a program. */
  init(depth = 2) {
    const random = this.#random
    if (random.isOne(4)) return this.contract(depth)
    const code = new Code()
    for (let count = random.below(4); count > 0; count--) this.#statement(code, depth - 1)
    if (random.isOne(5)) {
      // Code that may be too large or too expensive, or begin with a forbidden byte.
      if (random.isOne(2)) code.push(0xef).push(0).emit(op.MSTORE8)
      return code.push(random.pick(codeSizes)).push(0).emit(op.RETURN).finish()
    }
    const runtime = this.contract(depth - 1)
    return code.load(runtime).push(runtime.length).push(0).emit(op.RETURN).finish()
  }

  /** Returns call data. */
  input() {
    return this.#random.bytes(this.#random.pick([0, 0, 4, 32, 33, 100]))
  }

  #word() {
    const random = this.#random
    const wide = BigInt(
      `0x${random
        .bytes(32)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}`,
    )
    return random.pick([
      0,
      0,
      1,
      1,
      2,
      3,
      5,
      31,
      32,
      33,
      255,
      256,
      0xffff,
      random.next(),
      2n ** 255n,
      2n ** 256n - 1n,
      wide,
    ])
  }

  #slot() {
    return this.#random.below(4)
  }

  #place() {
    const random = this.#random
    return random.isOne(40)
      ? random.pick([0xffff, 0xfffff, 0x40000000, 0x7fffffff])
      : random.pick([0, 1, 31, 32, 64, 100])
  }

  #size() {
    const random = this.#random
    return random.isOne(40) ? random.pick([0x10000, 0xfffff, 0x7fffffff]) : random.pick([0, 0, 1, 4, 32, 33, 64, 128])
  }

  #address() {
    const random = this.#random
    const fresh = 0xf000 + random.below(64)
    const address = random.isOne(5) ? random.pick(precompiles) : random.isOne(5) ? fresh : random.pick(this.#known)
    return BigInt(address) + (random.isOne(20) ? random.pick(upperBytes) : 0n)
  }

  /** Consumes the word on top of the stack. */
  #keep(code) {
    const random = this.#random
    switch (random.below(3)) {
      case 0:
        return code.push(this.#slot()).emit(op.SSTORE)
      case 1:
        return code.push(this.#place()).emit(random.pick([op.MSTORE, op.MSTORE, op.MSTORE8]))
      default:
        return code.emit(op.POP)
    }
  }

  #statement(code, depth) {
    const random = this.#random
    switch (random.below(18)) {
      case 0:
        code.push(this.#word()).push(this.#word()).emit(random.pick(binary))
        return this.#keep(code)
      case 1:
        code
          .push(this.#word())
          .push(this.#word())
          .push(this.#word())
          .emit(random.pick([0x08, 0x09]))
        return this.#keep(code)
      case 2:
        code.emit(random.pick(sources))
        return this.#keep(code)
      case 3:
        code.push(random.isOne(2) ? this.#address() : this.#slot()).emit(random.pick(unary))
        return this.#keep(code)
      case 4:
      case 5:
        return code
          .push(this.#word())
          .push(this.#slot())
          .emit(random.pick([op.SSTORE, op.SSTORE, op.TSTORE]))
      case 6:
        code.push(this.#size()).push(this.#place()).emit(0x20)
        return this.#keep(code)
      case 7:
        code.push(this.#size()).push(this.#place()).push(this.#place())
        return code.emit(random.pick([op.CALLDATACOPY, op.CODECOPY, op.RETURNDATACOPY, op.MCOPY]))
      case 8: {
        const topics = random.below(5)
        for (let count = 0; count < topics; count++) code.push(this.#word())
        return code
          .push(this.#size())
          .push(this.#place())
          .emit(op.LOG0 + topics)
      }
      case 9:
      case 10:
      case 11:
        return this.#call(code)
      case 12:
        return depth > 0 ? this.#creation(code, depth) : this.#call(code)
      case 13:
        return this.#loop(code, depth)
      case 14:
        code.push(this.#size()).push(this.#place()).push(this.#place()).push(this.#address()).emit(op.EXTCODECOPY)
        return code
      case 15:
      case 16:
        return this.#precompileCall(code)
      default:
        return random.isOne(6) ? code.emit(random.below(256)) : code.emit(op.JUMPDEST)
    }
  }

  #call(code) {
    const random = this.#random
    const kind = random.pick([op.CALL, op.CALL, op.CALL, op.CALLCODE, op.DELEGATECALL, op.STATICCALL])
    code.push(this.#size()).push(this.#place()).push(this.#size()).push(this.#place())
    if (kind === op.CALL || kind === op.CALLCODE) code.push(random.pick([0, 0, 0, 1, 7, 2n ** 100n]))
    code.push(this.#address())
    const gas = random.pick([undefined, undefined, 0, 2300, 700, 5000, 20_000, 60_000, 2n ** 70n])
    if (gas === undefined) code.emit(op.GAS)
    else code.push(gas)
    return this.#keep(code.emit(kind))
  }

  /** Calls a precompile with the operands of one, mostly with all of them. */
  #precompileCall(code) {
    const random = this.#random
    const words = Array.from({ length: 2 + random.below(3) }, () => random.pick(operands)).flat()
    for (const [index, word] of words.entries())
      code
        .push(word)
        .push(32 * index)
        .emit(op.MSTORE)
    const kind = random.pick([op.CALL, op.CALLCODE, op.DELEGATECALL])
    code.push(this.#size()).push(this.#place())
    code.push(random.isOne(4) ? this.#size() : 32 * words.length).push(0)
    if (kind === op.CALL || kind === op.CALLCODE) code.push(0)
    return this.#keep(code.push(random.pick(precompiles)).emit(op.GAS, kind))
  }

  #creation(code, depth) {
    const random = this.#random
    const init = random.isOne(8) ? [] : this.init(depth - 1)
    const isSalted = random.isOne(2)
    code.load(init)
    if (isSalted) code.push(random.below(3))
    code
      .push(init.length)
      .push(0)
      .push(random.pick([0, 0, 1, 2n ** 100n]))
    return this.#keep(code.emit(isSalted ? op.CREATE2 : op.CREATE))
  }

  #loop(code, depth) {
    code.push(1 + this.#random.below(5))
    const start = code.bytes.length
    code.emit(op.JUMPDEST)
    if (depth > 0) this.#statement(code, 0)
    code.push(1).emit(op.SWAP1, 0x03, op.DUP1, 0x61, start >> 8, start & 255, op.JUMPI, op.POP)
  }

  #end(code) {
    const random = this.#random
    switch (random.below(10)) {
      case 0:
        return code.push(this.#address()).emit(op.SELFDESTRUCT)
      case 1:
        return code.push(this.#size()).push(this.#place()).emit(op.REVERT)
      case 2:
        return random.isOne(2) ? code.emit(op.INVALID) : code.push(this.#word()).emit(op.JUMP)
      case 3:
      case 4:
      case 5:
        return code.push(this.#size()).push(this.#place()).emit(op.RETURN)
      default:
        return code
    }
  }
}
