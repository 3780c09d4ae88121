// Damages of the proof of work of a block: coinbase, Merkle proof, Bitcoin header.
import { damaged, flipped } from './damage.mjs'
import { numberOf, read } from './encoding.mjs'
import { field, tag } from './seal.mjs'

const empty = Buffer.alloc(0)
/** Counts of bytes whose sum with the length of a tail may overflow. */
const wideCounts = [2n ** 61n, 2n ** 63n - 42n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n - 41n]

/** Damages the sealed header, if it has all elements of the proof. */
function damageProof(block, positions, change) {
  block.cut = (header) => {
    if (header.length > positions.bitcoinCoinbase) change(header)
  }
}

/** Each damages one thing of a block, and returns its name. */
export const proofChanges = {
  tail(block, { random }) {
    const rubbish = (lengths) => Buffer.from(random.bytes(random.pick(lengths)))
    const before = rubbish([1, 10, 22, 23, 24, 54, 55, 62, 63, 64, 65, 80])
    const behind = rubbish([1, 4, 127, 128, 129, 200])
    const [five, twelve, hash] = [rubbish([5]), rubbish([12]), rubbish([32])]
    const missing = random.pick([1, 11, 12, 13])
    const tails = {
      before: (committed) => [before, committed],
      behind: (committed) => [committed, behind],
      both: (committed) => [before, committed, behind],
      twice: (committed) => [committed, committed],
      'twice and apart': (committed) => [committed, before, committed],
      'another tag before': (committed) => [tag, five, committed],
      'another tag behind': (committed) => [committed, five, tag],
      'a wrong commitment behind': (committed) => [committed, tag, hash],
      'half a tag behind': (committed) => [committed, tag.subarray(0, 8)],
      'a cut hash': (committed) => [committed.subarray(0, committed.length - missing)],
      'other last bytes': (committed) => [committed.subarray(0, 29), twelve],
      'a tag inside of the hash': (committed) => [committed.subarray(0, 29), tag, five.subarray(0, 3)],
      none: () => [],
    }
    const name = random.pick(Object.keys(tails))
    block.seal = { ...block.seal, tail: (committed) => Buffer.concat(tails[name](committed)) }
    return `coinbase: ${name}`
  },

  midstate(block, { random }) {
    const midstate = Buffer.from(random.bytes(40))
    const count = random.pick([0n, 1n, 23n, 24n, 63n, 64n, 65n, ...wideCounts])
    midstate.writeBigUInt64BE(count)
    if (random.isOne(8)) tag.copy(midstate, 10)
    block.seal = { ...block.seal, midstate }
    return `midstate of ${count} bytes`
  },

  shortCoinbase(block, { random, positions }) {
    damageProof(block, positions, (header) => {
      const length = random.pick([0, 1, 39, 40, 41, 48, 49, 60])
      header[positions.bitcoinCoinbase] = read(header[positions.bitcoinCoinbase]).subarray(0, length)
    })
    return 'a short compressed coinbase'
  },

  siblings(block, { random }) {
    const count = random.pick([1, 2, 5, 29, 30, 31, 32])
    block.seal = { ...block.seal, siblings: Array.from({ length: count }, () => Buffer.from(random.bytes(32))) }
    return `proof with ${count} nodes`
  },

  proof(block, { random, positions }) {
    damageProof(block, positions, (header) => {
      const at = random.pick([
        positions.merkleProof,
        positions.merkleProof,
        positions.bitcoinHeader,
        positions.bitcoinCoinbase,
      ])
      const [name, node] = damaged(header[at] ?? empty, random)
      header[at] = node
      block.labels.push(`element ${at} ${name}`)
    })
    return 'proof of work'
  },

  miningElements(block, { random, positions }) {
    const count = 1 + random.below(3)
    damageProof(block, positions, (header) => {
      for (let at = 0; at < count; at++)
        header[positions.bitcoinHeader + random.below(3)] = random.pick([empty, Buffer.alloc(1)])
    })
    return 'empty elements of the proof of work'
  },

  bitcoinHeader(block, { random, positions }) {
    damageProof(block, positions, (header) => {
      const bytes = read(header[positions.bitcoinHeader])
      const more = random.pick(['00', '01', '0000', 'fd0000', '01010000000000000000000000'])
      header[positions.bitcoinHeader] = random.isOne(3)
        ? bytes.subarray(0, 79)
        : Buffer.concat([bytes, Buffer.from(more, 'hex')])
    })
    return 'length of the Bitcoin header'
  },

  partialTree(block, { random, positions }) {
    damageProof(block, positions, (header) => {
      const proof = Buffer.from(read(header[positions.merkleProof]))
      if (proof.length > 0)
        proof[random.isOne(2) ? random.below(Math.min(5, proof.length)) : random.below(proof.length)] ^=
          1 << random.below(8)
      if (random.isOne(4) && proof.length > 0) proof[proof.length - 1] |= 0x80 >> random.below(8)
      header[positions.merkleProof] = random.isOne(4) ? Buffer.concat([proof, Buffer.from([random.below(2)])]) : proof
    })
    return 'bits of the proof'
  },

  forkData(block, { random, forkData }) {
    if (forkData === undefined) return proofChanges.tail(block, { random })
    const data = flipped(forkData, random)
    block.seal = { ...block.seal, forkData: random.isOne(8) ? undefined : data }
    return 'fork detection data'
  },

  bitcoinTime(block, { random }) {
    const shift = random.pick([0, 1, 299, 300, 301, 7199, 7200, 7201, 2 ** 31])
    const time =
      Number(numberOf(read(block.header[field.timestamp])) & 0xffff_ffffn) + (random.isOne(2) ? shift : -shift)
    block.seal = { ...block.seal, time: time >>> 0 }
    return `Bitcoin time ${shift} apart`
  },
}
