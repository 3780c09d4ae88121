/** Settings that the page of the explorer gets from its address. */
export interface ExplorerSettings {
  /** URL of the node for WebSockets; null if the node serves none. */
  readonly socketUrl: string | null
  readonly network: string
  readonly isDevelopment: boolean
  /** Whether the node rejects requests without an API key now. */
  readonly needsKey: boolean
}

/** Parameter of a function, an error or an event. */
export interface KnownParameter {
  readonly name: string
  /** Canonical type: `uint256`, `(address,bytes)[]`. */
  readonly type: string
  readonly isIndexed: boolean
}

/** Signature of a function, an error or an event. */
export interface KnownSignature {
  /** Selector of 4 bytes, or first topic. */
  readonly id: string
  readonly name: string
  readonly parameters: readonly KnownParameter[]
}

/** Signatures by which the page decodes inputs, errors and logs, besides the common ones. */
export interface KnownSignatures {
  /** Functions and errors. */
  readonly functions: readonly KnownSignature[]
  readonly events: readonly KnownSignature[]
}
