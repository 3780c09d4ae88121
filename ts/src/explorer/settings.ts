/** Settings that the page of the explorer gets from its address. */
export interface ExplorerSettings {
  /** URL of the node for WebSockets; null if the node serves none. */
  readonly socketUrl: string | null
  readonly network: string
  readonly isDevelopment: boolean
}
