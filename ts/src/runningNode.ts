/** A serving node. */
export interface RunningNode {
  /** URL of the first address, e.g. `http://127.0.0.1:4444`. WebSockets have the same address with `ws:`. */
  readonly url: string
  /** Port of `url`; the chosen port if the setting is 0. */
  readonly port: number
  /** URLs of all addresses: that of `http`, then those of `listen`. */
  readonly urls: readonly string[]
  /** URL of the metrics for Prometheus; undefined if they are not served. */
  readonly metricsUrl: string | undefined
  /** URL of the operator's page and its API; undefined if they are not served. */
  readonly adminUrl: string | undefined
  /** URL of the explorer; undefined if it is not served. */
  readonly explorerUrl: string | undefined
  /** Resolves with the reason after a fatal error. The program should then call `stop`. */
  readonly failure: Promise<string>
  /** Resolves when a caller requests the shutdown (`rsk_shutdown`). The program should then call `stop`. */
  readonly shutdown: Promise<void>
  /** Finishes running requests and closes all connections and the database. Resolves to false if a worker thread did not stop in time. */
  stop(): Promise<boolean>
}
