/** What the HTTP side needs of the configuration. */
export interface HttpSettings {
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  readonly maxBodyBytes: number
  readonly timeoutMs: number
  /** Whether invalid requests get status 400, as the reference does, or 200. */
  readonly hasErrorStatus: boolean
  readonly compression: 'remote' | 'all' | 'none'
}
