/** Why the API refuses, with the HTTP status that says so. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** One word for programs. */
  readonly code: string
  /** Which member of the body is wrong. */
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
