import type { RequestContext } from '../rpc/requestContext.ts'
import type { Addon } from './bindings.ts'

/** Size of a page from which on it ends. A page is longer by at most one transaction. */
export const pageBytes = 256 * 1024
/** Time after which the execution of a block for traces or changes of the state fails. */
const executionMs = 20_000

/** Events of a change feed behind a place. */
export interface FeedPage {
  readonly events: Buffer
  /** Place of the next page. */
  readonly cursor: string
  /** Whether there are no more events at the moment. */
  readonly isAtHead: boolean
}

/** Reads a page in the pool. */
export async function feedPage(
  native: Pick<Addon, 'feedPage'>,
  from: string,
  content: string,
  isEventStream: boolean,
  context: RequestContext,
): Promise<FeedPage> {
  const answer = await context.runUnlimited((_deadlineMs, token) =>
    native.feedPage(from, content, isEventStream, pageBytes, executionMs, token),
  )
  const bytes = Buffer.isBuffer(answer) ? answer : Buffer.from(answer)
  const end = bytes.lastIndexOf('\n') + 1
  const { cursor, isAtHead } = JSON.parse(bytes.toString('latin1', end)) as Omit<FeedPage, 'events'>
  return { events: bytes.subarray(0, end), cursor, isAtHead }
}
