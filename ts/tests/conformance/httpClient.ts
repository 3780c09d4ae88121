import { request } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Got } from './judge.ts'

/** Time limit of an answer, above any limit of the node. */
const patienceMs = 20_000
/** Time without data after which reading a plain connection ends. */
const silenceMs = 300

/** Sends one HTTP request with exactly these headers, and the headers that HTTP needs. */
export function send(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Promise<Got> {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const options = { method, path, headers: { ...headers, ...length }, agent: false, timeout: patienceMs }
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url), options, (incoming) => {
      const pieces: Buffer[] = []
      incoming.on('data', (piece: Buffer) => pieces.push(piece))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = decoded(Buffer.concat(pieces), incoming.headers['content-encoding']).toString()
        const got = { status: incoming.statusCode ?? 0, text, body: parsed(text) }
        resolve({ ...got, headers: incoming.headers as Record<string, string> })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${patienceMs} ms`)))
    outgoing.on('error', reject)
    outgoing.flushHeaders()
    // A server refuses a large body by its declared length, without reading it.
    if ((body?.length ?? 0) < largeBody) outgoing.end(body)
    else setTimeout(() => outgoing.destroyed || outgoing.end(body), silenceMs)
  })
}

const largeBody = 1 << 20

/** Writes bytes to a plain connection. Returns the first HTTP answer, and whether the server closed the connection. */
export function exchange(url: string, bytes: string): Promise<{ got: Got; bytes: string; isClosed: boolean }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    const end = (isClosed: boolean): void => {
      socket.destroy()
      const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, '').split('\r\n\r\n')
      const body = (rest[0] ?? '').split('HTTP/1.1 ')[0] ?? ''
      const status = Number(/^HTTP\/\d\.\d (\d+)/.exec(head)?.[1] ?? 0)
      resolve({ got: { status, text: body, body: parsed(body) }, bytes: text, isClosed })
    }
    socket.setTimeout(silenceMs, () => end(false))
    socket.on('data', (piece) => {
      text += piece
    })
    socket.on('close', () => end(true))
    socket.on('error', reject)
    socket.write(bytes)
  })
}

function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(bytes)
  if (encoding === 'deflate') return inflateSync(bytes)
  return encoding === 'br' ? brotliDecompressSync(bytes) : bytes
}

export function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
