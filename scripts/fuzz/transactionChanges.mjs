// Damages of the transactions of a block: elements, signatures, encodings, order, and the REMASC transaction.
import { SigningKey } from 'ethers'
import { damaged, wideEdges, wrapped } from './damage.mjs'
import { digits, encode, keccak, lengthened, numberOf, read, Written } from './encoding.mjs'

const order = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n
export const remasc = Buffer.from('0000000000000000000000000000000001000008', 'hex')
export const bridge = Buffer.from('0000000000000000000000000000000001000006', 'hex')
const empty = Buffer.alloc(0)

/** Returns the elements that a signature covers, written as a node writes them. */
function signedForm(fields, chainId) {
  const [nonce, price, gasLimit, to, value, data] = fields.map(read)
  const priceDigits = digits(numberOf(price))
  const form = [
    nonce.equals(Buffer.alloc(1)) ? empty : nonce,
    price.length === 0 ? empty : priceDigits.length === 0 ? Buffer.alloc(1) : priceDigits,
    gasLimit,
    to,
    digits(numberOf(value)),
    data,
  ]
  return chainId === 0 ? form : [...form, digits(BigInt.asUintN(8, BigInt(chainId))), empty, empty]
}

/** Signs the elements of a transaction for a chain, 0 for any. */
export function signTransaction(fields, key, chainId) {
  const { r, s, yParity } = new SigningKey(key).sign(keccak(encode(signedForm(fields, chainId))))
  const v = chainId === 0 ? 27 + yParity : 35 + 2 * chainId + yParity
  return [...fields.slice(0, 6), Buffer.from([v & 255]), digits(BigInt(r)), digits(BigInt(s))]
}

/** Returns a transaction of a known key, if the block has one. */
function signedOf(block, random) {
  const signed = block.transactions.filter(({ key }) => key !== undefined)
  return signed.length === 0 ? undefined : random.pick(signed)
}

/** Each damages one thing of a block, and returns its name. */
export const transactionChanges = {
  transaction(block, context) {
    const { random } = context
    const picked = signedOf(block, random) ?? random.pick(block.transactions)
    if (picked === undefined) return 'no transaction'
    const at = random.below(picked.key === undefined ? 9 : 6)
    const [name, node] = damaged(picked.fields[at], random)
    picked.fields[at] = node
    if (picked.key !== undefined && !random.isOne(8)) {
      picked.fields = [...signTransaction(picked.fields, picked.key, picked.chainId)]
      picked.fields[at] = node
    }
    return `transaction element ${at} ${name}`
  },

  signature(block, context) {
    const { random } = context
    const picked = signedOf(block, random)
    if (picked === undefined) return transactionChanges.transaction(block, context)
    const chainId = random.pick([0, 33, 33, 30, 31, 1, 109, -1, -3, -4, -17, 32, 110])
    if (random.isOne(3)) {
      picked.fields = signTransaction(picked.fields, picked.key, chainId)
      if (random.isOne(2)) return `signed for chain ${chainId}`
    }
    const [v, r, s] = picked.fields.slice(6).map(read)
    const values = {
      'v of another byte': () => [
        Buffer.from([random.pick([0, 1, 26, 27, 28, 29, 33, 34, 35, 36, 37, 38, 101, 102, 103, 127, 128, 255])]),
        r,
        s,
      ],
      'no v': () => [empty, r, s],
      'v of two bytes': () => [Buffer.concat([Buffer.alloc(1), v]), r, s],
      'zero v': () => [Buffer.alloc(1), r, s],
      'other v': () => [Buffer.from([v[0] ^ 1]), r, s],
      'high s': () => [
        Buffer.from([v[0] === 27 || v[0] === 28 ? 55 - v[0] : ((v[0] - 35) ^ 1) + 35]),
        r,
        digits(order - numberOf(s)),
      ],
      'half s': () => [v, r, digits(order / 2n + BigInt(random.below(3) - 1))],
      's from the order on': () => [v, r, digits(numberOf(s) + order)],
      'r from the order on': () => [v, digits(numberOf(r) + order), s],
      'zero r': () => [v, random.pick([empty, Buffer.alloc(1), Buffer.alloc(32)]), s],
      'zero s': () => [v, r, random.pick([empty, Buffer.alloc(1), Buffer.alloc(32)])],
      'zeros before r': () => [v, Buffer.concat([Buffer.alloc(random.pick([1, 10])), r]), s],
      'zeros before s': () => [v, r, Buffer.concat([Buffer.alloc(random.pick([1, 10])), s])],
      'small r': () => [v, Buffer.from([1 + random.below(200)]), s],
      'small s': () => [v, r, Buffer.from([1 + random.below(200)])],
      'damaged r': () => [v, damaged(r, random)[1], s],
      'damaged s': () => [v, r, damaged(s, random)[1]],
      'damaged v': () => [damaged(v, random)[1], r, s],
    }
    const name = random.pick(Object.keys(values))
    picked.fields = [...picked.fields.slice(0, 6), ...values[name]()]
    return `signature with ${name}`
  },

  gas(block, context) {
    const { random } = context
    const picked = signedOf(block, random)
    if (picked === undefined) return transactionChanges.transaction(block, context)
    const limits = [
      0n,
      1n,
      20_999n,
      21_000n,
      21_001n,
      52_999n,
      53_000n,
      1_600_000n,
      1_600_001n,
      6_800_000n,
      6_800_001n,
      10_000_000n,
      10_000_001n,
      2n ** 60n,
      2n ** 63n - 1n,
      2n ** 63n,
      2n ** 64n,
      2n ** 64n + 21_000n,
    ]
    const limit = digits(random.pick(limits))
    picked.fields[2] = random.isOne(3) ? Buffer.concat([Buffer.alloc(random.below(34)), limit]) : limit
    picked.fields = signTransaction(picked.fields, picked.key, picked.chainId)
    return `gas limit ${numberOf(limit)} of a transaction`
  },

  price(block, context) {
    const { random } = context
    const picked = signedOf(block, random)
    if (picked === undefined) return transactionChanges.transaction(block, context)
    const at = random.pick([1, 1, 4, 0])
    picked.fields[at] = random.pick([
      empty,
      Buffer.alloc(1),
      Buffer.from([1]),
      Buffer.from([99]),
      Buffer.from([100]),
      Buffer.from([101]),
      Buffer.alloc(3),
      digits(random.pick(wideEdges)),
      Buffer.concat([Buffer.alloc(random.pick([1, 31, 32, 33])), read(picked.fields[at])]),
    ])
    picked.fields = signTransaction(picked.fields, picked.key, picked.chainId)
    return `element ${at} of a transaction ${read(picked.fields[at]).toString('hex')}`
  },

  receiver(block, context) {
    const { random } = context
    const picked = signedOf(block, random)
    if (picked === undefined) return transactionChanges.transaction(block, context)
    const to = random.pick([
      empty,
      Buffer.alloc(1),
      Buffer.alloc(20),
      remasc,
      bridge,
      Buffer.from(random.bytes(19)),
      Buffer.from(random.bytes(21)),
      Buffer.alloc(19),
    ])
    picked.fields[3] = to
    if (random.isOne(3)) picked.fields[5] = Buffer.alloc(random.pick([0, 49_152, 49_153, 24_577]), random.below(2))
    if (random.isOne(2)) picked.fields[2] = digits(random.pick([100_000, 1_000_000, 1_500_000]))
    picked.fields = signTransaction(picked.fields, picked.key, picked.chainId)
    return `receiver ${to.toString('hex')}`
  },

  remasc(block, { random }) {
    const last = block.transactions.at(-1)
    if (last === undefined) return 'no transaction'
    const kinds = {
      missing: () => block.transactions.pop(),
      twice: () => block.transactions.push({ fields: [...last.fields] }),
      first: () => block.transactions.unshift(block.transactions.pop()),
      'in another place': () =>
        block.transactions.splice(random.below(block.transactions.length), 0, { fields: [...last.fields] }),
      'another form': () => {
        const at = random.below(9)
        last.fields[at] = damaged(last.fields[at], random)[1]
      },
      'zeros in the gas limit': () => {
        last.fields[2] = Buffer.alloc(random.pick([0, 1, 2, 31, 32, 33, 40]))
      },
      'zeros in the price': () => {
        last.fields[1] = Buffer.alloc(random.pick([0, 1, 2, 32, 33, 40]))
      },
      'zeros in the value': () => {
        last.fields[4] = Buffer.alloc(random.pick([0, 1, 2, 32, 33, 40]))
      },
      'zeros in the nonce': () => {
        last.fields[0] = Buffer.concat([Buffer.alloc(random.pick([1, 2, 31, 32])), read(last.fields[0])])
      },
      'r and s without v': () => {
        last.fields[7] = Buffer.from(random.bytes(random.pick([1, 32, 33])))
        last.fields[8] = random.pick([empty, Buffer.from(random.bytes(32))])
      },
      'another nonce': () => {
        last.fields[0] = digits(numberOf(read(last.fields[0])) + BigInt(random.pick([1, 2, 255])))
      },
      'a string': () => {
        last.node = encode(last.fields)
      },
      'a long encoding': () => {
        last.node = lengthened(last.fields, 1 + random.below(8))
      },
      'ten elements': () => {
        last.fields.push(random.pick([empty, Buffer.alloc(1), []]))
      },
    }
    const name = random.pick(Object.keys(kinds))
    kinds[name]()
    return `REMASC: ${name}`
  },

  form(block, { random }) {
    const picked = random.pick(block.transactions)
    if (picked === undefined) return 'no transaction'
    const whole = encode(picked.fields)
    const type = Buffer.from([random.pick([0, 1, 2, 3, 4, 0x7f])])
    const kinds = {
      string: () => whole,
      'long string': () => lengthened(whole, 1 + random.below(8)),
      'long list': () => lengthened(picked.fields, 1 + random.below(8)),
      'wrapped list': () => wrapped(picked.fields),
      typed: () => Buffer.concat([type, whole]),
      'typed list': () => new Written(Buffer.concat([type, whole]), empty),
      'type in the list': () => [type, ...picked.fields],
      'nested list': () => [picked.fields],
      'eight elements': () => picked.fields.slice(0, 8),
      'ten elements': () => [...picked.fields, empty],
      'no elements': () => [],
      'empty string': () => empty,
      'string with rest': () => Buffer.concat([whole, Buffer.from([random.pick([0, 0x80, 0xc0])])]),
      'string in a string': () => encode(whole),
      rubbish: () => Buffer.from(random.bytes(1 + random.below(60))),
    }
    const name = random.pick(Object.keys(kinds))
    picked.node = kinds[name]()
    return `transaction as ${name}`
  },

  transactions(block, { random }) {
    const { transactions } = block
    const [first, second] = [random.below(transactions.length || 1), random.below(transactions.length || 1)]
    if (random.isOne(3) || transactions.length < 2) {
      transactions.splice(first, 1)
      return 'a transaction less'
    }
    if (random.isOne(2)) {
      transactions.splice(first, 0, { ...transactions[second], fields: [...transactions[second].fields] })
      return 'a transaction twice'
    }
    ;[transactions[first], transactions[second]] = [transactions[second], transactions[first]]
    return 'transactions in another order'
  },
}
