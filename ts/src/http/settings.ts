/** Settings of the HTTP server of one address. */
export interface HttpSettings {
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  readonly maxBodyBytes: number
  /** Time for a body to arrive; 0: no limit. */
  readonly bodyMs: number
  /** Time for a client to take a large answer; 0: no limit. */
  readonly writeMs: number
  /** Limit of all large answers that clients have not read yet. */
  readonly maxUnreadBytes: number
  readonly timeoutMs: number
  /** Longest wait of a request for a head. */
  readonly headWaitMs: number
  /** Whether invalid requests get status 400, as in the reference, or 200. */
  readonly hasErrorStatus: boolean
  readonly compression: 'remote' | 'all' | 'none'
}
