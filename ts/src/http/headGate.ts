import type { Headers } from './reply.ts'

/** Heads of the node for the callers of a fleet. */
export interface HeadGate {
  /** Returns number and hash of the block of the tag latest, separated by a space; empty while no node is open. */
  readonly latest: () => string
  /** Waits until that block has a number; false after the time. */
  readonly reach: (number: number, limitMs: number) => Promise<boolean>
}

/** Header of a request: number of the head that its answer must be based on, at least. */
export const leastHeadHeader = 'if-head-at-least'

/** Reads the header; undefined if it is absent, NaN if it is no number. */
export function leastHeadOf(text: string): number | undefined {
  if (text === '') return undefined
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
}

/** Returns the header of an answer. Web pages may read it, too. */
export function headHeaders(latest: string, hasOrigin: boolean): Headers {
  if (latest === '') return []
  const head = ['X-Rhizome-Head', latest] as const
  return hasOrigin ? [head, ['Access-Control-Expose-Headers', 'X-Rhizome-Head']] : [head]
}
