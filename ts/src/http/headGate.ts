import type { Headers } from './reply.ts'

/** Heads of the node for the callers of a fleet. */
export interface HeadGate {
  /** Returns the headers of an answer that is computed from now on. Web pages may read them, too. Called for each request. */
  readonly headers: (hasOrigin: boolean) => Headers
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

/** Headers that name a head. */
export class HeadHeaders {
  readonly plain: Headers
  /** For answers to web pages. */
  readonly exposed: Headers

  /** `latest`: number and hash of the block of the tag latest, separated by a space; empty while no node is open. */
  constructor(latest: string) {
    this.plain = latest === '' ? [] : [['X-Rhizome-Head', latest]]
    this.exposed = latest === '' ? [] : [...this.plain, ['Access-Control-Expose-Headers', 'X-Rhizome-Head']]
  }
}
