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

/** uWebSockets closes a connection without a reason above this multiple of `maxMessageBytes`; up to it, the server sends the reason. */
export const maxPayloadFactor = 2
