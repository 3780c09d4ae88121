import type { Answer } from './envelope.ts'

/** Larger bodies, in bytes, are never parsed on a worker. */
export const maxParsedBytes = 65_536

/** A body above `maxParsedBytes`, outside of the JavaScript heap. Ranges are in bytes; they can be read after `split`. */
export interface LargeBody {
  readonly length: number
  /** Copies a piece to the end. */
  add(piece: Uint8Array): void
  /** Says where the requests are: JSON, see `split.ts`. Executes in the pool, under a deadline. */
  split(maxRequests: number, deadlineMs: number, token: number): Promise<Answer>
  text(start: number, end: number): string
  /** Returns a copy. */
  bytes(start: number, end: number): Buffer
  /** Returns a text for functions of the core, without a copy. */
  part(start: number, end: number): object
  /** Frees the memory. */
  close(): void
}
