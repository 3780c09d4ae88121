/** Why something is not proven. */
export type Fault =
  /** Not the hex, RLP or node encoding that it should be, or not in canonical form. */
  | 'malformed'
  /** A list of nodes does not lead from the root to the key. */
  | 'proof'
  /** The nodes prove something else than what was claimed or asked for. */
  | 'claim'
  /** The proof of work is not there, or not for this header. */
  | WorkFault

/** Which step of the check of a proof of work failed (block chapter 5.1). */
export type WorkFault =
  | 'fallback-signature'
  | 'merkle-proof-format'
  | 'bitcoin-header'
  | 'target'
  | 'coinbase-too-short'
  | 'tag-not-found'
  | 'tag-position'
  | 'tag-not-last'
  | 'too-many-bytes-after-tag'
  | 'merkle-proof'

/** Nothing is proven. The only error that the functions of this module throw. */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly fault: Fault

  constructor(fault: Fault, message: string) {
    super(message)
    this.fault = fault
  }
}

export function malformed(message: string): VerificationError {
  return new VerificationError('malformed', message)
}
