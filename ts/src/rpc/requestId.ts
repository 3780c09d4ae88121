import { randomBytes } from 'node:crypto'

/** One of the thread, so that names of different threads and runs differ. */
const prefix = randomBytes(6).toString('hex')
let last = 0

/** A name for a request, in log and answer, that no other request has. */
export function newRequestId(): string {
  return `${prefix}-${++last}`
}

/** Whether the log repeats what a caller calls his request: UUIDs and the like. API keys and tokens have characters that are not allowed here. */
export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9:-]{1,64}$/.test(text)
}
