// Results of `DevelopmentBridge`. Amounts of Bitcoin are in satoshis, Bitcoin transactions are named by their ids. `transaction` is
// the hash of the Rootstock transaction that made the change.

/** State of the peg. */
export interface BridgeState {
  readonly federationAddress: string
  /** Height of the best Bitcoin header that the Bridge has. */
  readonly bitcoinHeight: number
  /** RBTC that are not in circulation. */
  readonly balanceWei: string
  readonly lockingCapSatoshis: string
  readonly minimumPegInSatoshis: string
  readonly feePerKbSatoshis: string
  /** Requests that are not in a Bitcoin transaction yet. */
  readonly queuedPegOuts: number
  /** First block in which the Bridge makes a transaction for the requests. */
  readonly nextPegOutBlock: number
  /** Ids of Bitcoin transactions, without signatures. */
  readonly waitingForConfirmations: readonly string[]
  /** Hashes of the Rootstock transactions that made the Bitcoin transactions. */
  readonly waitingForSignatures: readonly string[]
}

/** Best block of the stand-in Bitcoin. */
export interface BitcoinHead {
  readonly height: number
  readonly hash: string
  readonly transaction: string
}

/** A registered peg-in. */
export interface PegIn {
  readonly bitcoinTransaction: string
  readonly bitcoinHeight: number
  readonly transaction: string
  readonly receiver: string
  readonly satoshis: string
}

/** A registered flyover peg-in. */
export interface FlyoverPegIn extends PegIn {
  /** Contract that called the Bridge. */
  readonly provider: string
}

/** A request for Bitcoin that the Bridge accepted. */
export interface PegOutRequest {
  readonly transaction: string
  readonly sender: string
  readonly bitcoinAddress: string
  readonly satoshis: string
}

/** A Bitcoin transaction of the Bridge that can be signed. */
export interface ConfirmedPegOut {
  /** Id without signatures. */
  readonly bitcoinTransaction: string
  readonly transaction: string
}

/** A signed Bitcoin transaction of the Bridge in a Bitcoin block. */
export interface ReleasedPegOut {
  /** Hash of the Rootstock transaction that made it. */
  readonly key: string
  readonly bitcoinTransaction: string
  readonly bitcoinHeight: number
  readonly rawTransaction: string
  readonly outputs: readonly { readonly address: string | undefined; readonly satoshis: string }[]
  /** Registration at the Bridge. */
  readonly transaction: string
}
