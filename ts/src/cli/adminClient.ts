import type { Refusal } from '../admin/shapes.ts'
import { tokenText } from '../admin/token.ts'
import type { Config } from '../config/schema.ts'
import { urlOf } from '../http/url.ts'

const timeoutMs = 10_000
/** Addresses to listen on that are not addresses to connect to. */
const anyAddresses = ['0.0.0.0', '::']

/** Client of the admin API of a running node with the same configuration. */
export class AdminClient {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  /** Throws ConfigError if the token cannot be read. */
  constructor({ admin }: Config) {
    const { host, port } = admin
    this.#url = urlOf(anyAddresses.includes(host) ? '127.0.0.1' : host, port)
    const token = tokenText(admin)
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** Sends a request and returns its answer. Throws if no node answers, or if it refuses. */
  async ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
    const response = await this.#send(method, path, body)
    const answer = (await response.json().catch(() => null)) as (T & Partial<Refusal>) | null
    if (response.ok && answer !== null) return answer
    throw new Error(answer?.error?.message ?? `${this.#url}: not the admin API of a node (HTTP ${response.status})`)
  }

  async #send(method: string, path: string, body: object | undefined): Promise<Response> {
    const headers = { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    try {
      return await fetch(`${this.#url}${path}`, { method, headers, ...content, signal: AbortSignal.timeout(timeoutMs) })
    } catch {
      throw new Error(
        `no node answers at ${this.#url}: start it with --admin, and use the same --config or --admin-port here`,
      )
    }
  }
}
