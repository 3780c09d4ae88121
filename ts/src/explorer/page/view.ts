import type { Connection } from './connection.ts'
import { NodeError } from './connection.ts'

/** Services of a view. */
export interface Page {
  readonly node: Connection
  /** Modules that the node serves. Views that do not depend on them are shown before they are known. */
  readonly modules: Promise<ReadonlySet<string>>
  readonly isDevelopment: boolean
  /** Shows the view again. */
  refresh(): void
}

/** Creates the content of a page from the words of its address. */
export type View = (page: Page, words: readonly string[]) => Promise<readonly Node[]>

/** Returns the result of a request, or the reason why there is none. */
export async function orReason<T>(request: Promise<T>): Promise<T | string> {
  try {
    return await request
  } catch (error) {
    if (error instanceof NodeError) return error.message
    throw error
  }
}
