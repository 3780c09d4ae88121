import { randomBytes } from 'node:crypto'

/** Random per thread, so that ids of different threads and runs differ. */
const prefix = randomBytes(6).toString('hex')
let last = 0

/** Returns a unique id of a request for log and answer. */
export function newRequestId(): string {
  return `${prefix}-${++last}`
}

/** Returns whether the log may contain the request id of a client, such as a UUID. API keys and tokens have other characters. */
export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9:-]{1,64}$/.test(text)
}
