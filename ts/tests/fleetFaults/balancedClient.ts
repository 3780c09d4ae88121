import { Agent, request } from 'node:http'

/** An answer to a request over HTTP. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** Number of the block in `X-Rhizome-Head`. */
  readonly head: number | undefined
}

/** An answer of JSON-RPC. */
export interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Connections to the balancer. Idle ones end before the balancer closes them. */
export class BalancedClient {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 128, timeout: 5000 })

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request with a key. Rejects if there is no answer. */
  post(method: string, params: unknown[], key: string, least?: number): Promise<HttpAnswer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-api-key': key,
      ...(least !== undefined && { 'if-head-at-least': least }),
    }
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('error', reject)
        response.on('end', () => {
          const head = response.headers['x-rhizome-head']
          const number = typeof head === 'string' ? Number.parseInt(head, 10) : undefined
          resolve({ status: response.statusCode ?? 0, text, head: number })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** Repeats a request until a node answers it, and returns the result. */
  async result<T>(method: string, params: unknown[], key: string): Promise<T> {
    for (;;) {
      const answer = await this.post(method, params, key).catch(() => undefined)
      if (answer?.status === 200) {
        const { result, error } = JSON.parse(answer.text) as RpcAnswer
        if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`)
        return result as T
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
