import type { Random } from './random.ts'

/**
 * One way to torture a node. Each file of the folder `torture` exports one as `torture`, and the file's name is its name:
 * `torture/kills.ts` is run by `npm run torture -- --only kills`.
 */
export interface TortureCase {
  /** Why this machine cannot run the case, e.g. for want of Linux; undefined when it can. */
  readonly obstacle?: () => string | undefined
  /** Makes what all rounds share, in a folder that is removed afterwards. */
  readonly prepare: (folder: string) => Promise<Torture> | Torture
}

/** A case that is ready. */
export interface Torture {
  /** Throws when it finds a fault. */
  readonly round: (round: Round) => Promise<void>
  /** Called after the last round. */
  readonly end?: () => Promise<void>
}

export interface Round {
  /** Source of all random numbers, so that the seed of a round replays it. */
  readonly random: Random
  /** Empty at the start, and removed when the round found no fault. */
  readonly folder: string
  /** Time left in the run. Rounds of a fixed length may ignore it. */
  readonly timeMs: number
}
