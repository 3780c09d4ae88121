import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '../observe/metrics.ts'
import { isHostAllowed } from './origin.ts'

/** Listening on the address failed. */
export class MetricsListenError extends Error {
  override name = 'MetricsListenError'
}

/** Serves GET /metrics on the main thread, so that no worker is blocked by it. */
export class MetricsServer {
  readonly #server: Server

  /** `hosts` are accepted Host headers besides loopback names. */
  constructor(metrics: Metrics, hosts: readonly string[]) {
    this.#server = createServer((request, response) => {
      const end = (status: number, body: string, headers: Record<string, string> = {}): void => {
        response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }).end(body)
      }
      const [host = '', second] = request.headersDistinct.host ?? []
      if (second !== undefined || !isHostAllowed(host, hosts)) return end(403, 'Host not allowed\n')
      if (request.url?.split('?')[0] !== '/metrics') return end(404, 'Only /metrics is served here\n')
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return end(405, 'Metrics are read with GET\n', { Allow: 'GET, HEAD' })
      }
      metrics.page().then(
        (page) => end(200, page, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }),
        () => end(500, 'The metrics could not be collected\n'),
      )
    })
  }

  /** Returns the port. Throws MetricsListenError. */
  listen({ host, port }: { host: string; port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        reject(new MetricsListenError(`metrics: cannot listen on ${host}:${port} (${error.code})`))
      })
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
