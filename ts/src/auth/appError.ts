/** What cannot be done with an app, and why. The message begins with the member that is wrong. */
export class AppError extends Error {
  override name = 'AppError'

  /** E.g. `limits.burst` or `allow.sources[2]`. */
  get member(): string {
    return this.message.slice(0, this.message.indexOf(':'))
  }
}
