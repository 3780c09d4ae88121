import type { HeadGate } from './http/headGate.ts'
import type { Addon } from './native/bindings.ts'
import type { HeadChanges } from './native/headChanges.ts'

/** Time after which the block of the tag latest is read again: with `fleet.latest = "agreed"` it moves without a change of the own head. */
const lookMs = 50

/** Returns the heads of the node for the callers of a fleet. */
export function headGate(native: Pick<Addon, 'latestBlock'>, heads: HeadChanges): HeadGate {
  let known = ''
  let knownNumber = -1
  let knownStart = -1
  const latest = (): string => {
    try {
      const changed = native.latestBlock(knownNumber, knownStart)
      if (changed === null) return known
      known = changed
      knownNumber = Number.parseInt(changed, 10)
      // Six bytes of the hash, which a number holds exactly.
      knownStart = Number.parseInt(changed.slice(changed.indexOf('x') + 1).slice(0, 12), 16)
      return known
    } catch {
      return ''
    }
  }
  // Not below any number while no node is open: the request itself fails.
  const number = () => Number.parseInt(latest(), 10)
  return {
    latest,
    async reach(least, limitMs) {
      const until = performance.now() + limitMs
      while (number() < least) {
        const leftMs = until - performance.now()
        if (leftMs <= 0) return false
        await heads.next(Math.min(lookMs, leftMs))
      }
      return true
    },
  }
}
