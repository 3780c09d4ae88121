import { sha256x2 } from '@scure/btc-signer/utils'

/** Seconds between two stand-in blocks. */
const blockSeconds = 600

/** A Bitcoin block with the transaction ids that its header commits to. */
export interface BitcoinBlock {
  readonly header: Uint8Array
  /** In the order of the bytes that are hashed. */
  readonly ids: readonly Uint8Array[]
}

/** Mines a block on top of a header. On regtest every second hash is a proof of work. */
export function mineBlock(parent: Uint8Array, ids: readonly Uint8Array[]): BitcoinBlock {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(0x20000000, 0)
  header.set(sha256x2(parent), 4)
  header.set(levelsOf(ids).at(-1)?.[0] as Uint8Array, 36)
  const previous = Buffer.from(parent)
  header.writeUInt32LE(previous.readUInt32LE(68) + blockSeconds, 68)
  previous.copy(header, 72, 72, 76)
  // The target of regtest has one leading zero bit.
  while ((sha256x2(header)[31] as number) > 0x7f) header.writeUInt32LE(header.readUInt32LE(76) + 1, 76)
  return { header, ids }
}

/** Returns the id of a transaction in display order. */
export function displayed(id: Uint8Array): string {
  return Buffer.from(id).reverse().toString('hex')
}

/** Returns the partial Merkle tree (BIP37) that proves one transaction of a block. */
export function proofOf({ ids }: BitcoinBlock, index: number): Uint8Array {
  const levels = levelsOf(ids)
  const hashes: Uint8Array[] = []
  const bits: boolean[] = []
  const visit = (height: number, position: number): void => {
    const isAbove = index >> height === position
    bits.push(isAbove)
    if (!isAbove || height === 0) hashes.push(levels[height]?.[position] as Uint8Array)
    else
      for (const child of [2 * position, 2 * position + 1])
        if (child < (levels[height - 1] ?? []).length) visit(height - 1, child)
  }
  visit(levels.length - 1, 0)
  const flags = Buffer.alloc(Math.ceil(bits.length / 8))
  for (const [bit, isSet] of bits.entries()) if (isSet) flags[bit >> 3] = (flags[bit >> 3] as number) | (1 << (bit & 7))
  const count = Buffer.alloc(4)
  count.writeUInt32LE(ids.length)
  return Buffer.concat([count, [hashes.length], ...hashes, [flags.length], flags].map((part) => Buffer.from(part)))
}

/** Returns the levels of the Merkle tree, leaves first. The last node of an odd level is paired with itself. */
function levelsOf(ids: readonly Uint8Array[]): Uint8Array[][] {
  const levels = [[...ids]]
  for (let level = levels[0] as Uint8Array[]; level.length > 1; level = levels.at(-1) as Uint8Array[]) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_none, index) => {
      const left = level[2 * index] as Uint8Array
      return sha256x2(left, level[2 * index + 1] ?? left)
    })
    levels.push(pairs)
  }
  return levels
}
