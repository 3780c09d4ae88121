/** A node that serves. */
export interface RunningNode {
  /** E.g. `http://127.0.0.1:4444`. WebSockets are at the same address, with `ws:`. */
  readonly url: string
  /** That of `url`: the one that was chosen when the settings say 0. */
  readonly port: number
  /** All addresses: that of `http`, then those of `listen`. */
  readonly urls: readonly string[]
  /** Where the figures for Prometheus are; undefined when they are not served. */
  readonly metricsUrl: string | undefined
  /** Where the operator's page and its API are; undefined when they are not served. */
  readonly adminUrl: string | undefined
  /** Resolves with the reason when the node cannot go on by itself. Stop it then. */
  readonly failure: Promise<string>
  /** Resolves when a caller asks the node to end (`rsk_shutdown`). Stop it then. */
  readonly shutdown: Promise<void>
  /** Answers running requests, closes all connections and the database. False when a worker thread is still busy. */
  stop(): Promise<boolean>
}
