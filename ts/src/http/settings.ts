/** What the HTTP side needs of the configuration. */
export interface HttpSettings {
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  readonly maxBodyBytes: number
  /** Time for a body to arrive; 0: no limit. */
  readonly bodyMs: number
  /** Time for a client to take a large answer; 0: no limit. */
  readonly writeMs: number
  /** Of all large answers that are not read yet. */
  readonly maxUnreadBytes: number
  readonly timeoutMs: number
  /** Whether invalid requests get status 400, as the reference does, or 200. */
  readonly hasErrorStatus: boolean
  readonly compression: 'remote' | 'all' | 'none'
}
