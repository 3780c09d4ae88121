/** Answer of a node: a result, or an error. */
export interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Time that a node has for an answer, in milliseconds. */
const answerMs = 60_000

/** A node, over HTTP. */
export class Endpoint {
  readonly url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url
    this.#headers = headers
  }

  /** Returns the answer to a request. Throws if the node does not answer in JSON. */
  async ask(method: string, params: readonly unknown[]): Promise<Answer> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.#headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(answerMs),
    }
    const received = fetch(this.url, init).then(async (response) => [response.status, await response.text()] as const)
    const [status, text] = await received.catch((error: Error) => {
      throw new Error(`${this.url}: ${method}: ${causeOf(error)}`)
    })
    try {
      const { result, error } = JSON.parse(text) as Answer
      if (error !== undefined && error !== null) return { error: { code: error.code, message: error.message } }
      if (result !== undefined) return { result }
    } catch {
      // Reported below.
    }
    throw new Error(`${this.url}: ${method}: not an answer of JSON-RPC (HTTP ${status})`)
  }

  /** Returns the result of a request. Throws if the node refuses it. */
  async result<T>(method: string, params: readonly unknown[]): Promise<T> {
    const { result, error } = await this.ask(method, params)
    if (error !== undefined) throw new Error(`${this.url}: ${method}: ${error.message} (${error.code})`)
    return result as T
  }
}

function causeOf(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
