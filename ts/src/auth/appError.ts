/** What cannot be done with an app, and why. The message begins with the member that is wrong. */
export class AppError extends Error {
  override name = 'AppError'
  readonly kind: 'invalid' | 'unknown' | 'taken' | 'revoked'

  constructor(message: string, kind: AppError['kind'] = 'invalid') {
    super(message)
    this.kind = kind
  }

  /** E.g. `limits.burst` or `allow.sources[2]`. */
  get member(): string {
    return this.message.slice(0, this.message.indexOf(':'))
  }
}
