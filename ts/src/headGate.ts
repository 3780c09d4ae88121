import { type HeadGate, HeadHeaders } from './http/headGate.ts'
import type { Addon } from './native/bindings.ts'
import type { HeadChanges } from './native/headChanges.ts'

/** Time after which the block of the tag latest is read again while a request waits for it. */
const lookMs = 50

/** Returns the heads of the node for the callers of a fleet. `follows`: setting `fleet.latest`; with "agreed" the block of the tag latest moves without a change of the own head. */
export function headGate(
  native: Pick<Addon, 'headChangeCount' | 'latestBlock'>,
  heads: HeadChanges,
  follows: 'own' | 'agreed',
): HeadGate {
  const changes = native.headChangeCount()
  /** Number of changes before the last successful look for an answer. */
  let seen = -1
  let number = -1
  let start = -1
  // Written once for each head, not for each answer.
  let named = new HeadHeaders('')
  /** Reads the block of the tag latest if it has changed. Returns false while no node is open. */
  const look = (): boolean => {
    try {
      const changed = native.latestBlock(number, start)
      if (changed === null) return true
      number = Number.parseInt(changed, 10)
      // Six bytes of the hash, which a number holds exactly.
      start = Number.parseInt(changed.slice(changed.indexOf('x') + 1).slice(0, 12), 16)
      named = new HeadHeaders(changed)
      return true
    } catch {
      return false
    }
  }
  return {
    headers(hasOrigin) {
      const now = Atomics.load(changes, 0)
      if (now !== seen || follows === 'agreed') {
        if (!look()) return []
        seen = now
      }
      return hasOrigin ? named.exposed : named.plain
    },
    async reach(least, limitMs) {
      const until = performance.now() + limitMs
      // While no node is open the request itself fails.
      while (look() && number < least) {
        const leftMs = until - performance.now()
        if (leftMs <= 0) return false
        await heads.next(Math.min(lookMs, leftMs))
      }
      return true
    },
  }
}
