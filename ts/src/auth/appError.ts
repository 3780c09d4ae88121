/** What cannot be done with an app, and why. The message begins with the member that is wrong. */
export class AppError extends Error {
  override name = 'AppError'
}
