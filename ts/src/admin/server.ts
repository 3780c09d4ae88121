import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StoreError } from '../auth/store.ts'
import { checkHost, checkOrigin, checkToken } from './admission.ts'
import type { PageFile } from './pageFiles.ts'
import { ApiError } from './refusal.ts'
import type { Answer, Route } from './routes.ts'
import type { Refusal } from './shapes.ts'

const headersMs = 5000
const requestMs = 10_000
const maxConnections = 200

/** The page loads only its own files, cannot be framed, and cannot turn text into markup. `called`: further origins that it calls. */
function pagePolicy(called: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...called].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

const always = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** Listening on the address failed. */
export class AdminListenError extends Error {
  override name = 'AdminListenError'
}

export interface AdminSettings {
  /** Section of the configuration that has the address. */
  readonly section: 'admin' | 'explorer'
  /** Origins that the page calls besides its own. */
  readonly calledOrigins: readonly string[]
  /** Accepted Host headers besides loopback names. */
  readonly hosts: readonly string[]
  /** SHA-256 of the token of the API; undefined: no token is required. */
  readonly token: Buffer | undefined
  /** Called with internal errors. */
  readonly onDefect: (error: Error) => void
}

/** Serves the API and the operator's page on the main thread, so that no worker is blocked by it. */
export class AdminServer {
  readonly #server: Server
  readonly #routes: readonly Route[]
  readonly #page: ReadonlyMap<string, PageFile>
  readonly #settings: AdminSettings
  readonly #pagePolicy: string

  constructor(routes: readonly Route[], page: ReadonlyMap<string, PageFile>, settings: AdminSettings) {
    this.#routes = routes
    this.#page = page
    this.#settings = settings
    this.#pagePolicy = pagePolicy(settings.calledOrigins)
    this.#server = createServer({ headersTimeout: headersMs, requestTimeout: requestMs }, (request, response) => {
      this.#serve(request, response).catch((error: Error) => this.#refuse(response, error))
    })
    this.#server.maxConnections = maxConnections
  }

  /** Returns the port. Throws AdminListenError. */
  listen({ host, port }: { host: string; port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        reject(new AdminListenError(`${this.#settings.section}: cannot listen on ${host}:${port} (${error.code})`))
      })
      this.#server.listen(port, host, () => {
        // An error event without a listener would terminate the node.
        this.#server.on('error', this.#settings.onDefect)
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkHost(request.headersDistinct, this.#settings)
    const path = request.url?.split('?')[0] ?? ''
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const file = this.#page.get(path)
    if (file !== undefined) {
      if (!isRead) throw wrongMethod('GET, HEAD')
      response.writeHead(200, { ...always, 'Content-Type': file.type, 'Content-Security-Policy': this.#pagePolicy })
      response.end(file.content)
      return
    }
    checkOrigin(request.headers)
    checkToken(request.headers, this.#settings.token)
    const here = this.#routes.filter((route) => route.path.test(path))
    if (here.length === 0) throw new ApiError(404, 'path', 'there is nothing at this path')
    const asked = request.method === 'HEAD' ? 'GET' : request.method
    const route = here.find(({ method }) => method === asked)
    if (route === undefined) throw wrongMethod(here.map(({ method }) => method).join(', '))
    answer(response, await route.answer(route.path.exec(path)?.[1] ?? '', request))
  }

  #refuse(response: ServerResponse, error: Error): void {
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const { status, code, message, member, headers } = this.#asRefusal(error)
    const body: Refusal = { error: { code, message, ...(member !== undefined && { member }) } }
    answer(response, { status, headers, body })
  }

  #asRefusal(error: Error): ApiError {
    if (error instanceof ApiError) return error
    if (error instanceof StoreError) return new ApiError(503, 'store', error.message)
    this.#settings.onDefect(error)
    return new ApiError(500, 'internal', 'the node failed to answer; its log says why')
  }
}

function answer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...always, ...headers, 'Content-Type': 'application/json' })
  response.end(JSON.stringify(body))
}

function wrongMethod(allowed: string): ApiError {
  return new ApiError(405, 'method', `allowed here: ${allowed}`, { headers: { Allow: allowed } })
}
