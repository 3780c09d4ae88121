import type { Cursor, Movement } from '../native/feed.ts'
import type { FilterSource } from './source.ts'

/** Number of blocks below a cursor that are stored with it. */
const trailLength = 32
const noHash = `0x${'0'.repeat(64)}`

/** Last block that a poll returned, with the hashes of blocks below it, ascending. */
interface TrailedCursor extends Cursor {
  readonly trail?: readonly string[]
}

/**
 * Chain as a source of filters that several nodes poll. A cursor may point to a block that this node does not have: the
 * node is behind, or the block was abandoned before it arrived.
 */
export function sharedSource(source: FilterSource, isKnown: (hash: string) => boolean): FilterSource {
  const trailed = (cursor: Cursor): TrailedCursor => {
    const { number } = cursor
    // No block has an empty hash, so this returns the main chain from that height on.
    const { hashes } = source.movementSince({ number: Math.max(0, number - trailLength), hash: noHash })
    const trail = hashes.slice(0, Math.min(number, trailLength))
    return { number, hash: cursor.hash, trail: trail.pop() === cursor.hash ? trail : [] }
  }
  const movementSince = (seen: TrailedCursor, most?: number): Movement => {
    const start = isKnown(seen.hash) ? seen : startOf(seen, source.head(), isKnown)
    if (start === undefined) return { hashes: [], removed: [], cursor: seen }
    const movement = source.movementSince(start, most)
    return { ...movement, cursor: movement.cursor.hash === seen.hash ? seen : trailed(movement.cursor) }
  }
  return {
    ...source,
    head: () => trailed(source.head()),
    movementSince,
    mainCursor: (number) => trailed(source.mainCursor(number)),
    branchCursor(fork: TrailedCursor, hashes) {
      const trail = [...(fork.trail ?? []), fork.hash, ...hashes.slice(0, -1)]
      return { ...source.branchCursor(fork, hashes), trail: trail.slice(-trailLength) }
    },
  }
}

/**
 * Returns the cursor to continue from if this node lacks the block of a cursor. Undefined while the chain of this node is
 * not longer: the block may still arrive. Otherwise the highest block of the trail that this node has.
 */
function startOf(
  { number, trail = [] }: TrailedCursor,
  head: Cursor,
  isKnown: (hash: string) => boolean,
): Cursor | undefined {
  if (head.number <= number) return undefined
  const place = trail.findLastIndex(isKnown)
  // If there is none, the whole trail was abandoned; blocks below it are not searched.
  return { number: number - (trail.length - Math.max(place, 0)), hash: trail[place] ?? noHash }
}
