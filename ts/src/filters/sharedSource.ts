import type { Cursor, Movement } from '../native/feed.ts'
import type { FilterSource } from './source.ts'

/** How many blocks below a cursor are remembered with it. */
const trailLength = 32
const noHash = `0x${'0'.repeat(64)}`

/** A block that somebody has seen last, with the hashes of blocks below it, ascending. */
interface TrailedCursor extends Cursor {
  readonly trail?: readonly string[]
}

/**
 * The chain for filters that several nodes poll. A cursor may stand on a block that this node does not have: it is
 * behind, or that block was abandoned before it came here.
 */
export function sharedSource(source: FilterSource, isKnown: (hash: string) => boolean): FilterSource {
  const trailed = (cursor: Cursor): TrailedCursor => {
    const { number } = cursor
    // Nobody has the block without hash, so this tells the main chain from its height on.
    const { hashes } = source.movementSince({ number: Math.max(0, number - trailLength), hash: noHash })
    const trail = hashes.slice(0, Math.min(number, trailLength))
    return { number, hash: cursor.hash, trail: trail.pop() === cursor.hash ? trail : [] }
  }
  const movementSince = (seen: TrailedCursor): Movement => {
    const start = isKnown(seen.hash) ? seen : startOf(seen, source.head(), isKnown)
    if (start === undefined) return { hashes: [], removed: [], cursor: seen }
    const movement = source.movementSince(start)
    return { ...movement, cursor: movement.cursor.hash === seen.hash ? seen : trailed(movement.cursor) }
  }
  return { ...source, head: () => trailed(source.head()), movementSince }
}

/**
 * Where to go on from when the block of a cursor is not here. Undefined while this node's chain is not longer: then that
 * block may still come. After that its chain goes on from the highest block of the trail that it has.
 */
function startOf(
  { number, trail = [] }: TrailedCursor,
  head: Cursor,
  isKnown: (hash: string) => boolean,
): Cursor | undefined {
  if (head.number <= number) return undefined
  const place = trail.findLastIndex(isKnown)
  // Without any, the whole trail was abandoned: what lies below it is not looked at.
  return { number: number - (trail.length - Math.max(place, 0)), hash: trail[place] ?? noHash }
}
