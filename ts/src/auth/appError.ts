/** A change of an app is rejected. The message begins with the invalid member. */
export class AppError extends Error {
  override name = 'AppError'
  readonly kind: 'invalid' | 'unknown' | 'taken' | 'revoked'

  constructor(message: string, kind: AppError['kind'] = 'invalid') {
    super(message)
    this.kind = kind
  }

  /** Returns the invalid member, e.g. `limits.burst` or `allow.sources[2]`. */
  get member(): string {
    return this.message.slice(0, this.message.indexOf(':'))
  }
}
