import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe } from 'vitest'
import { natsServer } from '../../scripts/setup/natsServer.mjs'
import { freePort } from './freePort.ts'
import { scratchFolder } from './node.ts'
import { ServerProcess } from './serverProcess.ts'

const program = natsServer()
export const hasNats = program !== undefined
/** Reason in the name of a skipped test. */
export const withoutNats = ' (skipped: nats-server is not installed)'

/** Defines tests that need a NATS server; without one they are skipped with the reason in their name. */
export function describeWithNats(name: string, tests: () => void): void {
  if (!hasNats) describe.skip(`${name}${withoutNats}`, tests)
  else describe(name, tests)
}

/** A NATS server with JetStream on a free loopback port. */
export class NatsProcess {
  readonly url: string
  readonly #port: number
  readonly #config: string
  readonly #process = new ServerProcess()

  private constructor(port: number, settings: string) {
    const folder = scratchFolder()
    this.#port = port
    this.url = `nats://127.0.0.1:${port}`
    this.#config = join(folder, 'server.conf')
    const streams = `jetstream { store_dir: ${JSON.stringify(join(folder, 'streams'))} }`
    writeFileSync(this.#config, `listen: 127.0.0.1:${port}\n${streams}\n${settings}\n`)
  }

  static async start(settings = 'max_payload: 16MB'): Promise<NatsProcess> {
    const server = new NatsProcess(await freePort(), settings)
    await server.restart()
    return server
  }

  /** Starts the server again with its data. */
  async restart(): Promise<void> {
    this.#process.start(program ?? '', ['-c', this.#config])
    while (!(await takesConnections(this.#port))) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Deletes the messages of a stream, as its retention does. */
  async purge(stream: string): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    const answered = new Promise<void>((resolve, reject) => {
      let text = ''
      socket.on('data', (bytes) => {
        text += bytes
        if (/"success":true/.test(text)) resolve()
        else if (/"error":/.test(text)) reject(new Error(text))
      })
      socket.once('error', reject)
    })
    socket.write(`CONNECT {"verbose":false}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.PURGE.${stream} answer 0\r\n\r\n`)
    await answered
    socket.destroy()
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    await this.#process.kill()
  }
}

/** Returns whether a loopback port is open. */
export function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
