/** Why a verification failed. */
export type Fault =
  /** Invalid hex, RLP or node encoding, or not in canonical form. */
  | 'malformed'
  /** A list of nodes does not lead from the root to the key. */
  | 'proof'
  /** The nodes prove a different value or key than claimed. */
  | 'claim'
  /** The proof of work is missing or not for this header. */
  | WorkFault

/** The failed step of the verification of a proof of work (docs/spec/block.md, 5.1). */
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

/** A verification failed. The only error that the functions of this module throw. */
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
