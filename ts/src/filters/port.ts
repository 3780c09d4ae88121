import { RpcError } from '../rpc/errors.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'

/**
 * Filters as methods use them. Results are finished JSON, of at most `maxBytes`. A new filter counts for a client, see
 * `RequestContext.client`; its first poll must fit, too.
 */
export interface FilterPort {
  newLogFilter(filter: LogFilter, client: string, maxBytes: number): Promise<string>
  newBlockFilter(client: string): Promise<string>
  newPendingTransactionFilter(client: string): Promise<string>
  changes(id: string, maxBytes: number): Promise<string>
  logs(id: string, maxBytes: number): Promise<string>
  uninstall(id: string): Promise<string>
}

type Operation = keyof FilterPort

/** Call of a worker to the registry. */
export interface FilterQuestion {
  readonly kind: 'filter'
  readonly token: number
  readonly operation: Operation
  readonly parameters: readonly unknown[]
}

/** Reply of the registry. */
export type FilterReply =
  | { readonly kind: 'filter'; readonly token: number; readonly result: string }
  | {
      readonly kind: 'filter'
      readonly token: number
      readonly error: RefusalParts | { readonly defect: string }
    }

type RefusalParts = Pick<RpcError, 'code' | 'message' | 'data' | 'hint' | 'httpStatus' | 'retryAfterSeconds'>

/** Registry as workers use it: calls and replies travel as messages. */
export class RemoteFilters implements FilterPort {
  readonly #send: (question: FilterQuestion) => void
  readonly #waiting = new Map<number, { resolve: (result: string) => void; reject: (error: Error) => void }>()
  #lastToken = 0

  constructor(send: (question: FilterQuestion) => void) {
    this.#send = send
  }

  newLogFilter = (filter: LogFilter, client: string, maxBytes: number): Promise<string> =>
    this.#ask('newLogFilter', filter, client, maxBytes)
  newBlockFilter = (client: string): Promise<string> => this.#ask('newBlockFilter', client)
  newPendingTransactionFilter = (client: string): Promise<string> => this.#ask('newPendingTransactionFilter', client)
  changes = (id: string, maxBytes: number): Promise<string> => this.#ask('changes', id, maxBytes)
  logs = (id: string, maxBytes: number): Promise<string> => this.#ask('logs', id, maxBytes)
  uninstall = (id: string): Promise<string> => this.#ask('uninstall', id)

  /** Handles a reply. */
  receive(reply: FilterReply): void {
    const waiting = this.#waiting.get(reply.token)
    this.#waiting.delete(reply.token)
    if ('result' in reply) waiting?.resolve(reply.result)
    else if ('defect' in reply.error) waiting?.reject(new FilterDefect(reply.error.defect))
    else waiting?.reject(refusalFrom(reply.error))
  }

  #ask(operation: Operation, ...parameters: unknown[]): Promise<string> {
    const token = ++this.#lastToken
    return new Promise((resolve, reject) => {
      this.#waiting.set(token, { resolve, reject })
      this.#send({ kind: 'filter', token, operation, parameters })
    })
  }
}

function refusalFrom({ code, message, data, hint, httpStatus, retryAfterSeconds }: RefusalParts): RpcError {
  return Object.assign(new RpcError(code, message, data, hint), { httpStatus, retryAfterSeconds })
}

/** Unexpected error in the thread of the registry. */
class FilterDefect extends Error {
  override name = 'FilterDefect'
}

/** Executes the call of a worker. */
export async function answerQuestion(registry: FilterPort, question: FilterQuestion): Promise<FilterReply> {
  const { token, operation, parameters } = question
  try {
    const ask = registry[operation] as (this: FilterPort, ...parameters: readonly unknown[]) => Promise<string>
    return { kind: 'filter', token, result: await ask.call(registry, ...parameters) }
  } catch (error) {
    if (error instanceof RpcError) {
      const { code, message, data, hint, httpStatus, retryAfterSeconds } = error
      return { kind: 'filter', token, error: { code, message, data, hint, httpStatus, retryAfterSeconds } }
    }
    return {
      kind: 'filter',
      token,
      error: { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    }
  }
}
