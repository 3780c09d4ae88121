import type { Random } from '../src/compare/random.ts'

/**
 * A torture test. Each file of the folder `torture` exports one as `torture`; the name of the file is the name of the case:
 * `torture/kills.ts` is run by `npm run torture -- --only kills`.
 */
export interface TortureCase {
  /** Why this machine cannot run the case, e.g. because it needs Linux; undefined if it can. */
  readonly obstacle?: () => string | undefined
  /** Prepares the shared state of all rounds in a folder that is removed afterwards. */
  readonly prepare: (folder: string) => Promise<Torture> | Torture
}

/** A prepared case. */
export interface Torture {
  /** Runs one round. Throws when it finds a fault. */
  readonly round: (round: Round) => Promise<void>
  /** Called after the last round. */
  readonly end?: () => Promise<void>
}

export interface Round {
  /** Source of all random numbers, so that the seed of a round replays it. */
  readonly random: Random
  /** Folder of the round: empty at the start, removed if the round found no fault. */
  readonly folder: string
  /** Time left in the run. Rounds of a fixed length may ignore it. */
  readonly timeMs: number
}
