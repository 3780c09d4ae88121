// A WebSocket client that costs little: the benchmarks are about the server.
import { connect } from 'node:net'

const handshake =
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'

export class Connection {
  #socket
  #bytes = Buffer.alloc(0)
  #isOpen = false
  /** Of a message that comes in several frames. */
  #pieces = ''
  /** Called with the text of each message. */
  onMessage = () => undefined
  /** Called when the server closes. */
  onEnd = () => undefined

  static open(port) {
    const connection = new Connection()
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(handshake))
      connection.#socket = socket
      socket.on('error', reject)
      socket.on('end', () => connection.onEnd())
      socket.on('data', (bytes) => {
        connection.#receive(bytes)
        if (connection.#isOpen) resolve(connection)
      })
    })
  }

  /** Sends a short text; the mask is zero. */
  send(text) {
    const { length } = text
    // Lengths have to take as few bytes as they can.
    const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 255]
    const head = Buffer.from([0x81, ...size, 0, 0, 0, 0])
    this.#socket.write(Buffer.concat([head, Buffer.from(text, 'latin1')]))
  }

  /** The result of a request on a connection that nobody else uses. */
  ask(method, params) {
    return new Promise((resolve, reject) => {
      this.onMessage = (text) => {
        const { error, result } = JSON.parse(text)
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      }
      this.onEnd = () => reject(new Error(`${method}: the server closed the connection`))
      this.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    })
  }

  close() {
    this.#socket.destroy()
  }

  #receive(bytes) {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
    if (!this.#isOpen) {
      const end = this.#bytes.indexOf('\r\n\r\n')
      if (end === -1) return
      this.#isOpen = true
      this.#bytes = this.#bytes.subarray(end + 4)
    }
    for (;;) {
      const [start, length] = this.#frame()
      if (this.#bytes.length < start + length) return
      const first = this.#bytes[0]
      const text = this.#bytes.toString('latin1', start, start + length)
      this.#bytes = this.#bytes.subarray(start + length)
      // Pings and closing are nobody's message.
      if ((first & 0x08) !== 0) continue
      this.#pieces += text
      if ((first & 0x80) === 0) continue
      const message = this.#pieces
      this.#pieces = ''
      this.onMessage(message)
    }
  }

  /** Where the payload of the next frame begins, and its length. */
  #frame() {
    if (this.#bytes.length < 4) return [4, 0]
    const length = this.#bytes[1]
    return length === 126 ? [4, this.#bytes.readUInt16BE(2)] : [2, length]
  }
}
