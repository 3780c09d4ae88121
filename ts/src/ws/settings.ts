/** Settings of the WebSocket server of one address. */
export interface WebSocketSettings {
  readonly maxConnections: number
  readonly maxRequests: number
  readonly maxMessageBytes: number
  readonly maxBufferedBytes: number
  readonly maxUnreadBytes: number
  readonly idleSeconds: number
  /** Time for one message; 0: no limit. */
  readonly timeoutMs: number
}
