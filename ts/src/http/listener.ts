import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { uWebSockets } from '../native/uWebSockets.ts'

/** The address cannot be listened on. */
class ListenError extends Error {
  override name = 'ListenError'
}

export interface ListenerSettings {
  readonly host: string
  /** Files of certificate and key; undefined: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** One worker's end of one address: takes connections and hands them to the routes. */
export class Listener {
  readonly #settings: ListenerSettings
  readonly #routes: (app: TemplatedApp) => void
  #app: TemplatedApp
  /** Those with an older certificate: connections that they took are served on. */
  readonly #former: TemplatedApp[] = []
  #socket: us_listen_socket | undefined
  #port = 0

  constructor(settings: ListenerSettings, routes: (app: TemplatedApp) => void) {
    this.#settings = settings
    this.#routes = routes
    this.#app = this.#createApp()
  }

  /** Starts to listen and returns the port. Several workers may share one: the kernel spreads connections. */
  async listen(port: number): Promise<number> {
    this.#socket = await this.#listenOn(this.#app, port)
    const { us_socket_local_port } = uWebSockets()
    this.#port = us_socket_local_port(this.#socket as Parameters<typeof us_socket_local_port>[0])
    return this.#port
  }

  /** Takes new connections with what the files of the certificate hold now. */
  async renewCertificate(): Promise<void> {
    if (this.#settings.tls === undefined || this.#socket === undefined) return
    const app = this.#createApp()
    const socket = await this.#listenOn(app, this.#port)
    this.stopListening()
    this.#former.push(this.#app)
    this.#app = app
    this.#socket = socket
  }

  /** Takes no new connections; open ones are served on. */
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
