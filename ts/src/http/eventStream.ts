import type { HttpResponse } from 'uWebSockets.js'
import type { Admission, Keyring, Refusal } from '../auth/keyring.ts'
import type { Caller } from '../rpc/caller.ts'
import { code, RpcError } from '../rpc/errors.ts'
import type { FeedClient } from '../rpc/feedClient.ts'
import { ended, type Headers } from './reply.ts'

const beat = ':\n\n'

/** Client of a change feed over HTTP: server-sent events. */
export class EventStream implements FeedClient {
  readonly isEventStream = true
  readonly #response: HttpResponse
  readonly #headers: Headers
  readonly #keyring: Keyring
  #admission: Admission
  #hasHead = false
  #isOver = false
  /** Lets `send` return; set while the client has unread events. */
  #resume: (() => void) | undefined

  constructor(response: HttpResponse, headers: Headers, keyring: Keyring, admission: Admission) {
    this.#response = response
    this.#headers = headers
    this.#keyring = keyring
    this.#admission = admission
    response.onWritable(() => {
      this.#goOn()
      // Nothing was written here, so uWebSockets has nothing to retry.
      return true
    })
  }

  async admitted(): Promise<Caller | undefined> {
    const renewed: Admission | Refusal = await this.#keyring.renew(this.#admission)
    if (typeof renewed === 'string') throw new RpcError(code.invalidRequest, 'Must be authenticated!')
    this.#admission = renewed
    return renewed.caller
  }

  send(events: Buffer): Promise<void> {
    if (this.#isOver || this.#write(events)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  beat(): void {
    if (!this.#isOver && this.#resume === undefined) this.#write(beat)
  }

  fail({ code: number, message, data }: RpcError): void {
    if (this.#isOver) return
    this.#write(`event: failed\ndata: ${JSON.stringify({ code: number, message, data })}\n\n`)
    ended(this.#response, () => {
      this.#response.end('', true)
      return true
    })
    this.leave()
  }

  /** Must be called when the client has disconnected: the response must not be used afterwards. */
  leave(): void {
    this.#isOver = true
    this.#goOn()
  }

  #goOn(): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }

  /** Returns whether the client has room for more. */
  #write(events: Buffer | string): boolean {
    let hasRoom = true
    this.#response.cork(() => {
      if (!this.#hasHead) this.#writeHead()
      hasRoom = this.#response.write(events)
    })
    return hasRoom
  }

  #writeHead(): void {
    this.#hasHead = true
    const fixed: Headers = [
      ['Content-Type', 'text/event-stream'],
      ['Cache-Control', 'no-store'],
      // Proxies such as nginx collect answers otherwise.
      ['X-Accel-Buffering', 'no'],
    ]
    for (const [name, value] of [...fixed, ...this.#headers]) this.#response.writeHeader(name, value)
  }
}
