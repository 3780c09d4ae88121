import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { uWebSockets } from '../native/uWebSockets.ts'

/** Listening on the address failed. */
class ListenError extends Error {
  override name = 'ListenError'
}

export interface ListenerSettings {
  readonly host: string
  /** Files of certificate and key; undefined: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** Listens on one address for one worker and hands connections to the routes. */
export class Listener {
  readonly #settings: ListenerSettings
  readonly #routes: (app: TemplatedApp) => void
  #app: TemplatedApp
  /** Apps with an older certificate; they still serve the connections that they accepted. */
  readonly #former: TemplatedApp[] = []
  #socket: us_listen_socket | undefined
  #port = 0

  constructor(settings: ListenerSettings, routes: (app: TemplatedApp) => void) {
    this.#settings = settings
    this.#routes = routes
    this.#app = this.#createApp()
  }

  /** Starts to listen and returns the port. Several workers may share a port: the kernel spreads connections. */
  async listen(port: number): Promise<number> {
    this.#socket = await this.#listenOn(this.#app, port)
    const { us_socket_local_port } = uWebSockets()
    this.#port = us_socket_local_port(this.#socket as Parameters<typeof us_socket_local_port>[0])
    return this.#port
  }

  /** Reads the certificate files again and uses them for new connections. */
  async renewCertificate(): Promise<void> {
    if (this.#settings.tls === undefined || this.#socket === undefined) return
    const app = this.#createApp()
    const socket = await this.#listenOn(app, this.#port)
    this.stopListening()
    this.#former.push(this.#app)
    this.#app = app
    this.#socket = socket
  }

  /** Accepts no new connections; open connections are still served. */
  stopListening(): void {
    if (this.#socket !== undefined) uWebSockets().us_listen_socket_close(this.#socket)
    this.#socket = undefined
  }

  /** Closes every connection. */
  close(): void {
    this.#socket = undefined
    for (const app of [this.#app, ...this.#former]) app.close()
  }

  #createApp(): TemplatedApp {
    const { tls } = this.#settings
    const uws = uWebSockets()
    const app = tls === undefined ? uws.App() : uws.SSLApp({ cert_file_name: tls.cert, key_file_name: tls.key })
    this.#routes(app)
    return app
  }

  #listenOn(app: TemplatedApp, port: number): Promise<us_listen_socket> {
    const { host } = this.#settings
    return new Promise((resolve, reject) => {
      app.listen(host, port, (socket) => {
        if (socket === false) reject(new ListenError(`cannot listen on ${host}:${port}`))
        else resolve(socket)
      })
    })
  }
}
