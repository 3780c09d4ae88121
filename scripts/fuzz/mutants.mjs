// Damaged copies of valid blocks: every element of header, transactions and uncles, their number, order and encoding, and
// the proof of work. Most mutants are sealed again, so that a rule judges them that comes behind the proof of work.
import { damaged, wrapped } from './damage.mjs'
import { decode, digits, encode, keccak, lengthened, numberOf, read } from './encoding.mjs'
import { proofChanges } from './proofChanges.mjs'
import { field, sealed, signed } from './seal.mjs'
import { bridge, remasc, transactionChanges } from './transactionChanges.mjs'

const empty = Buffer.alloc(0)
const numbers = [field.difficulty, field.number, field.gasUsed, field.timestamp, field.paidFees, field.uncleCount]

/** A block whose parts can be damaged, and then encoded and sealed. */
export class Mutable {
  /** Positions of elements of the header that the completion of the block leaves as they are. */
  kept = new Set()
  isSealed = true
  isCompleted = true
  /** Options of the proof of work. */
  seal = {}
  labels = []
  /** Damages the proof of work of the header. */
  cut = () => undefined
  /** Returns the bytes of the block, by its regular encoding and its parts. */
  wrap = (encoded) => encoded

  /** `transactions`: objects with `fields`; with `key` and `chainId` they can be signed again. */
  constructor(header, transactions, uncles) {
    this.header = [...header]
    this.transactions = transactions.map((transaction) => ({ ...transaction, fields: [...transaction.fields] }))
    this.uncles = uncles.map((uncle) => [...uncle])
  }

  /** Returns the block without the damages of its proof and its form. */
  plain(rules, options) {
    if (this.isSealed) this.header = sealed(this.header, rules, { ...options, ...this.seal })
    return encode(this.#parts())
  }

  /** Returns the damaged block. */
  encode(rules, options) {
    this.plain(rules, options)
    this.cut(this.header)
    const parts = this.#parts()
    return this.wrap(encode(parts), parts)
  }

  #parts() {
    return [this.header, this.transactions.map(({ node, fields }) => node ?? fields), this.uncles]
  }
}

/** Each damages one thing of a block, and returns its name. */
const headerChanges = {
  header(block, { random, positions }) {
    const at = random.isOne(3) ? random.pick(numbers) : random.below(block.header.length)
    const [name, node] = damaged(block.header[at], random)
    block.header[at] = node
    block.kept.add(at)
    if (at >= positions.bitcoinHeader) block.isSealed = false
    return `header ${at} ${name}`
  },

  headerCount(block, { random }) {
    const { header } = block
    const at = random.below(header.length + 1)
    block.seal = { ...block.seal, isReplacing: random.isOne(2) }
    block.isSealed = !random.isOne(3)
    if (random.isOne(2)) {
      header.splice(at, 0, random.pick([empty, Buffer.alloc(1), Buffer.alloc(80), []]))
      return `header with another element at ${at}`
    }
    const count = random.pick([1, 1, 2, 3, 4])
    header.splice(random.isOne(2) ? header.length - count : at, count)
    return `header with ${count} elements less`
  },

  difficulty(block, { random }) {
    const number = numberOf(read(block.header[field.difficulty]))
    const other = random.pick([number + 1n, number - 1n, number * 2n, number / 2n, 0n])
    block.header[field.difficulty] = signed(Buffer.concat([Buffer.alloc(1), digits(other)]))
    return `difficulty ${other}`
  },

  version(block, { random, positions }) {
    if (positions.version === undefined) return headerChanges.header(block, { random, positions })
    const versions = ['', '00', '01', '02', '03', '7f', '80', '81', 'ff', '0001', '0102', '0200', 'c0', 'c101']
    block.header[positions.version] = Buffer.from(random.pick(versions), 'hex')
    return `version ${block.header[positions.version].toString('hex')}`
  },

  edges(block, context) {
    const { random, positions } = context
    if (positions.edges === undefined) return headerChanges.gasLimit(block, context)
    const count = random.pick([0, 1, 1, 2, 2, 2, 3])
    const bytes = Buffer.alloc(2 * count)
    for (let at = 0; at < count; at++) {
      bytes.writeInt16LE(
        random.isOne(6) ? random.pick([-1, 0, 256, 32_767, -32_768]) : random.below(block.transactions.length + 1),
        2 * at,
      )
    }
    const node = random.isOne(6) ? Buffer.concat([bytes, Buffer.from([random.below(3)])]) : bytes
    block.header[positions.edges] = node
    return `edges ${node.toString('hex')}`
  },

  baseEvent(block, { random, positions }) {
    if (positions.baseEvent === undefined) return headerChanges.header(block, { random, positions })
    const node = random.pick([
      Buffer.from(random.bytes(random.pick([1, 32, 128, 129, 1000]))),
      [],
      [empty],
      Buffer.alloc(1),
    ])
    block.header[positions.baseEvent] = node
    return 'base event'
  },

  ummRoot(block, { random, positions }) {
    if (positions.ummRoot === undefined) return headerChanges.header(block, { random, positions })
    const length = random.pick([1, 19, 20, 20, 20, 21, 32])
    block.header[positions.ummRoot] = Buffer.from(random.bytes(length))
    return `UMM root of ${length} bytes`
  },

  gasLimit(block, { random, parentLimit }) {
    const limit =
      random.pick([parentLimit - parentLimit / 1024n, parentLimit + parentLimit / 1024n, parentLimit]) +
      BigInt(random.below(5) - 2)
    const form = random.pick([digits(limit), Buffer.concat([Buffer.alloc(random.below(40)), digits(limit)])])
    block.header[field.gasLimit] = form
    return `gas limit ${limit}`
  },

  minimumGasPrice(block, { random }) {
    const price = random.pick(['', '00', '01', '02', '0001', '000000', 'ff', 'ffff', '80', '0080', 'ff01'])
    block.header[field.minimumGasPrice] = Buffer.from(price, 'hex')
    return `minimum gas price ${price}`
  },

  timestamp(block, { random, parentTime, now = 0n }) {
    const clock = random.pick([535n, 540n, 545n, 7200n])
    const time = random.pick([
      now + clock,
      0n,
      1n,
      parentTime - 1n,
      parentTime,
      parentTime + 1n,
      parentTime + 600n,
      2n ** 31n,
      2n ** 63n - 1n,
    ])
    block.header[field.timestamp] = digits(time < 0n ? 0n : time)
    return `timestamp ${time}`
  },

  extraData(block, { random }) {
    const length = random.pick([0, 1, 31, 32, 33, 34, 100])
    block.header[field.extraData] = random.isOne(8)
      ? [Buffer.from(random.bytes(length))]
      : Buffer.from(random.bytes(length))
    return `extra data of ${length} bytes`
  },

  coinbase(block, { random }) {
    const bytes = random.pick([0, 0, 1, 19, 20, 20, 21, 32])
    const special = random.pick([
      remasc,
      bridge,
      Buffer.alloc(20),
      Buffer.concat([Buffer.alloc(19), Buffer.from([random.below(10)])]),
    ])
    block.header[field.coinbase] = bytes === 20 && random.isOne(2) ? special : Buffer.from(random.bytes(bytes))
    return `coinbase ${block.header[field.coinbase].toString('hex')}`
  },

  uncles(block, context) {
    const { random, ancestors, rules } = context
    if (ancestors.length === 0) return headerChanges.header(block, context)
    const count = random.pick([1, 1, 1, 2, 3, 9, 10, 11])
    const names = []
    for (let made = 0; made < count; made++) {
      const generation = random.isOne(6) ? random.below(10) : random.below(Math.min(6, ancestors.length))
      const model = ancestors[generation]
      if (model === undefined) continue
      const header = [...model.header]
      let name = `generation ${generation + 1}`
      header[field.coinbase] = random.pick([
        Buffer.from(random.bytes(20)),
        Buffer.from(random.bytes(20)),
        empty,
        remasc,
        bridge,
      ])
      header[field.unclesHash] = keccak(Buffer.from([0xc0]))
      header[field.uncleCount] = empty
      const forkData = model.forkData
      let isSealed = true
      if (count < 4 && random.isOne(2)) {
        const at = random.isOne(3) ? random.pick(numbers) : random.below(header.length)
        const [change, node] = damaged(header[at], random)
        header[at] = node
        name += ` element ${at} ${change}`
        isSealed = at < context.positions.bitcoinHeader && !random.isOne(10)
      } else if (
        random.isOne(8) &&
        context.positions.version !== undefined &&
        header.length > context.positions.version
      ) {
        header[context.positions.version] = Buffer.from([random.below(4)])
        name += ` version ${header[context.positions.version][0]}`
      } else if (count < 4 && random.isOne(4)) {
        if (random.isOne(2))
          header[field.timestamp] = digits(numberOf(read(model.header[field.timestamp])) - 1n + BigInt(random.below(3)))
        else header[field.parentHash] = random.pick(ancestors).hash
        name += ' of other values'
      }
      const uncle = isSealed ? sealed(header, rules, { forkData, attempts: context.attempts }) : header
      block.uncles.push(uncle)
      names.push(name)
    }
    if (random.isOne(10)) {
      block.uncles.push(random.isOne(2) ? [...random.pick(ancestors).header] : [...(block.uncles[0] ?? [])])
      names.push('an ancestor or a duplicate')
    }
    if (random.isOne(10)) {
      const node = block.uncles[0]
      block.uncles[0] = random.pick([lengthened(node, 3), encode(node), [...node, empty], node.slice(0, 16)])
      names.push('another form')
    }
    block.header[field.uncleCount] = digits(block.uncles.length + (random.isOne(6) ? random.pick([1, 2, 100]) : 0))
    block.kept.add(field.uncleCount)
    return `${block.uncles.length} uncles: ${names.join(', ')}`
  },

  block(block, { random }) {
    const [at, size, rest, cut] = [
      random.below(3),
      1 + random.below(8),
      random.pick([0, 0x80, 0xc0]),
      1 + random.below(20),
    ]
    const more = random.pick([empty, [], Buffer.alloc(1)])
    const withPart = (change) => (_, parts) => encode(parts.map((part, index) => (index === at ? change(part) : part)))
    const kinds = {
      'trailing bytes': (encoded) => Buffer.concat([encoded, Buffer.from([rest])]),
      'a long length': (_, parts) => lengthened(parts, size).encoded,
      'a wrapped length': (_, parts) => wrapped(parts).encoded,
      'a fourth element': (_, parts) => encode([...parts, more]),
      'two elements': (_, parts) => encode(parts.slice(0, 2)),
      'a long length of a part': withPart((part) => lengthened(part, size)),
      'a wrapped length of a part': withPart(wrapped),
      'a part as string': withPart(encode),
      'an empty string as part': withPart(() => empty),
      'a cut end': (encoded) => encoded.subarray(0, encoded.length - cut),
      'a string': (encoded) => encode(encoded),
      nested: (encoded) => encode([decode(encoded)]),
    }
    const name = random.pick(Object.keys(kinds))
    block.wrap = kinds[name]
    return `block as ${name}`
  },
}

export const changes = { ...headerChanges, ...proofChanges, ...transactionChanges }

/** Returns a damaged encoding of a transaction that `key` has signed for a chain. */
export function damagedTransaction(raw, key, chainId, random) {
  const block = new Mutable([], [{ fields: decode(raw), key, chainId }], [])
  transactionChanges[random.pick(['transaction', 'signature', 'gas', 'price', 'receiver', 'form'])](block, { random })
  const [{ node, fields }] = block.transactions
  return encode(node ?? fields)
}

/** Weights of the changes. */
const weights = { header: 8, transaction: 6, signature: 5, uncles: 6, remasc: 3, form: 3, gas: 3, price: 3, edges: 3 }
const names = Object.keys(changes).flatMap((name) => Array.from({ length: weights[name] ?? 2 }, () => name))

/**
 * Damages a block once, sometimes twice. `context`: random numbers, rules and positions of the height, values of the parent,
 * and ancestors with header and hash, nearest first.
 */
export function mutate(block, context) {
  const { random } = context
  for (let left = random.isOne(4) ? 2 : 1; left > 0; left--) {
    const before = [...block.header]
    block.labels.push(changes[random.pick(names)](block, context))
    for (const [at, node] of block.header.entries()) if (node !== before[at]) block.kept.add(at)
  }
  if (random.isOne(12)) block.isSealed = false
  if (random.isOne(8)) block.isCompleted = false
}
