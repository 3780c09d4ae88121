// One HTTP connection without a pipeline: less work for a request than a client library does, so that it adds little to a
// latency.
import { once } from 'node:events'
import { connect } from 'node:net'

export class Connection {
  #socket
  #host
  #path
  #buffer = Buffer.alloc(0)
  #waiting

  constructor(url) {
    const { hostname, port, host, pathname } = new URL(url)
    this.#host = host
    this.#path = pathname
    this.#socket = connect(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (bytes) => {
      this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes])
      this.#settle()
    })
    const fail = (error) => this.#waiting?.reject(error ?? new Error('the node closed the connection'))
    this.#socket.on('error', fail)
    this.#socket.on('close', () => fail())
  }

  get opened() {
    return this.#socket.connecting ? once(this.#socket, 'connect') : Promise.resolve()
  }

  /** Sends a body and returns that of the answer. One request at a time. */
  post(body) {
    const head = `POST ${this.#path} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: application/json\r\n`
    this.#socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  end() {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #settle() {
    const end = this.#buffer.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = /^content-length: *(\d+)/im.exec(this.#buffer.toString('latin1', 0, end))?.[1]
    if (length === undefined) return this.#waiting?.reject(new Error('an answer without content-length'))
    const last = end + 4 + Number(length)
    if (this.#buffer.length < last) return
    const body = this.#buffer.toString('utf8', end + 4, last)
    this.#buffer = this.#buffer.subarray(last)
    const { resolve } = this.#waiting
    this.#waiting = undefined
    resolve(body)
  }
}
