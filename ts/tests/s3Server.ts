import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Reply {
  readonly status: number
  readonly body?: Buffer | string
  readonly headers?: Record<string, string>
  /** The connection ends after half of the body. */
  readonly isCut?: boolean
}

/** A bucket of S3 in memory, with the requests that the node sends. Requests without a signature are refused. */
export class S3Server {
  readonly files = new Map<string, Buffer>()
  /** Uploads in parts that are not complete. */
  readonly uploads = new Map<string, Map<number, Buffer>>()
  /** Names of files that were read. */
  readonly reads = new Set<string>()
  /** Number of answers with a piece that are cut, and that have another byte, from now on. */
  readonly faults = { cut: 0, changed: 0 }
  /** Lists have no end: each page names the next one, which is the same. */
  listsAgain = false
  /** Time before each answer. */
  pauseMs = 0
  readonly #server: Server
  #uploadCount = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status, body = '', headers = {}, isCut = false }) => {
        response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers })
        if (isCut) response.write(body.slice(0, body.length / 2), () => response.destroy())
        else response.end(body)
      })
    })
  }

  static async start(): Promise<S3Server> {
    const server = new S3Server()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Environment of a node that uses this server. */
  get variables(): Record<string, string> {
    return {
      AWS_ENDPOINT: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
    }
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (this.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.pauseMs))
    const url = new URL(request.url ?? '', 'http://bucket')
    // Path style: /bucket/name.
    const name = decodeURIComponent(url.pathname.split('/').slice(2).join('/'))
    if (!(request.headers.authorization ?? '').startsWith('AWS4-HMAC-SHA256 ')) return { status: 403 }
    const upload = url.searchParams.get('uploadId')
    const parts = upload === null ? undefined : this.uploads.get(upload)
    if (upload !== null && parts === undefined) return { status: 404, body: error('NoSuchUpload') }
    switch (request.method) {
      case 'PUT':
        if (parts === undefined) this.files.set(name, body)
        else parts.set(Number(url.searchParams.get('partNumber')), body)
        return { status: 200, headers: { ETag: tagOf(body) } }
      case 'POST':
        if (url.searchParams.has('delete')) {
          const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key)
          for (const key of keys) this.files.delete(key)
          const deleted = keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`)
          return { status: 200, body: `<DeleteResult>${deleted.join('')}</DeleteResult>` }
        }
        if (parts === undefined) return { status: 200, body: this.#begin() }
        this.files.set(name, Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part)))
        this.uploads.delete(upload ?? '')
        return { status: 200, body: completed }
      case 'DELETE':
        this.uploads.delete(upload ?? '')
        return { status: 204 }
      default:
        if (url.searchParams.get('list-type') === null) return this.#read(name, request)
        return { status: 200, body: this.#list(url.searchParams.get('prefix') ?? '') }
    }
  }

  #begin(): string {
    const id = `upload${this.#uploadCount++}`
    this.uploads.set(id, new Map())
    return `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
  }

  #list(prefix: string): string {
    const entries = [...this.files].filter(([name]) => name.startsWith(prefix))
    const contents = entries.map(
      ([name, { length }]) =>
        `<Contents><Key>${name}</Key><Size>${length}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`,
    )
    const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>'
    const end = this.listsAgain ? more : '<IsTruncated>false</IsTruncated>'
    return `<ListBucketResult>${end}${contents.join('')}</ListBucketResult>`
  }

  #read(name: string, request: IncomingMessage): Reply {
    const file = this.files.get(name)
    if (file === undefined) return { status: 404, body: error('NoSuchKey') }
    this.reads.add(name)
    const headers = { ETag: tagOf(file), 'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (first === undefined) return { status: 200, headers, ...this.#spoiled(name, file) }
    const part = file.subarray(Number(first), Number(last) + 1)
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${file.length}`
    return { status: 206, body: part, headers: { ...headers, 'Content-Range': range } }
  }

  #spoiled(name: string, file: Buffer): Partial<Reply> {
    if (!name.endsWith('.piece')) return { body: file }
    if (this.faults.cut > 0) {
      this.faults.cut--
      // Without a tag the client cannot ask for the rest alone.
      return { body: file, isCut: true, headers: { 'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT' } }
    }
    if (this.faults.changed === 0) return { body: file }
    this.faults.changed--
    const changed = Buffer.from(file)
    changed[file.length - 1] = (changed[file.length - 1] ?? 0) ^ 1
    return { body: changed }
  }
}

const completed = '<CompleteMultipartUploadResult><ETag>"all"</ETag></CompleteMultipartUploadResult>'

function error(code: string): string {
  return `<Error><Code>${code}</Code><Message>${code}</Message></Error>`
}

function tagOf(bytes: Buffer): string {
  return `"${bytes.length}-${bytes.subarray(0, 8).toString('hex')}"`
}
