/** A refusal of the admin API, with its HTTP status. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** One word for programs. */
  readonly code: string
  /** The invalid member of the body. */
  readonly member: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { member, headers = {} }: { readonly member?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.member = member
    this.headers = headers
  }
}
