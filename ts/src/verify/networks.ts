/** Activation heights of the rules for the encoding of headers and for their proof of work; null: never. */
export interface HeaderRules {
  /** Merkle proofs as a list of hashes; neither they nor the coinbase are part of the block hash. */
  readonly rskip92: number | null
  /** Blocks must be mined, not signed. */
  readonly rskip98: number | null
  /** Fork detection data in the hash for merged mining. */
  readonly rskip110: number | null
  /** A header element for the root of user mining manifests. */
  readonly rskipUMM: number | null
  /** At most 30 hashes in a Merkle proof. */
  readonly rskip180: number | null
  /** Header versions: the bloom is hashed separately. */
  readonly rskip351: number | null
  /** A header element for the edges of parallel transaction lists. */
  readonly rskip144: number | null
  /** A header element for the base event. */
  readonly rskip535: number | null
  /** Below this height, headers without a base event are valid although RSKIP-535 is active. */
  readonly baseEventRequiredFrom?: number
}

/** Activation heights of the networks, from the reference node. A custom chain specification needs its own heights. */
export const networks = {
  mainnet: {
    rskip92: 729_000,
    rskip98: 729_000,
    rskip110: 1_591_000,
    rskipUMM: 2_392_700,
    rskip180: 3_614_800,
    rskip351: null,
    rskip144: null,
    rskip535: null,
  },
  testnet: {
    rskip92: 0,
    rskip98: 0,
    rskip110: 0,
    rskipUMM: 863_000,
    rskip180: 2_060_500,
    rskip351: 7_139_600,
    rskip144: 7_139_600,
    rskip535: 7_604_200,
    baseEventRequiredFrom: 7_800_000,
  },
  testnet2: {
    rskip92: 0,
    rskip98: 0,
    rskip110: 0,
    rskipUMM: 863_000,
    rskip180: 2_060_500,
    rskip351: null,
    rskip144: null,
    rskip535: null,
  },
  devnet: {
    rskip92: 0,
    rskip98: 0,
    rskip110: 0,
    rskipUMM: 1,
    rskip180: 0,
    rskip351: null,
    rskip144: null,
    rskip535: null,
  },
  regtest: {
    rskip92: 0,
    rskip98: 0,
    rskip110: 0,
    rskipUMM: 1,
    rskip180: 0,
    rskip351: 1,
    rskip144: 1,
    rskip535: 1,
  },
} as const satisfies Record<string, HeaderRules>

export type NetworkName = keyof typeof networks

/** Returns the heights of a network by name; custom heights are returned unchanged. */
export function rulesOf(network: NetworkName | HeaderRules): HeaderRules {
  return typeof network === 'string' ? networks[network] : network
}

/** Returns whether a rule is active at a height. */
export function isActive(
  rules: HeaderRules,
  rule: Exclude<keyof HeaderRules, 'baseEventRequiredFrom'>,
  number: bigint,
) {
  const height = rules[rule]
  return height !== null && number >= height
}
