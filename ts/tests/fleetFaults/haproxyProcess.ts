import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../freePort.ts'
import { takesConnections } from '../natsServer.ts'
import { ServerProcess } from '../serverProcess.ts'

const settings = new URL('../../../docs/deploy/fleet/haproxy.cfg', import.meta.url)

export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

/** HAProxy with the settings of docs/deploy/fleet, on a free loopback port. */
export class HaproxyProcess {
  readonly url: string
  readonly #port: number
  readonly #file: string
  readonly #process = new ServerProcess()

  private constructor(port: number, file: string) {
    this.#port = port
    this.#file = file
    this.url = `http://127.0.0.1:${port}`
  }

  /** Starts a balancer of replicas on these loopback ports. */
  static async start(folder: string, replicas: readonly number[]): Promise<HaproxyProcess> {
    const port = await freePort()
    const file = join(folder, 'haproxy.cfg')
    const servers = [...replicas]
    const text = readFileSync(settings, 'utf8')
      .replace('bind :4444', `bind 127.0.0.1:${port}`)
      // More connections need more open files than a shell may have.
      .replace('maxconn 20000', 'maxconn 4000')
      // Names of containers are those of the compose file.
      .replace(' resolvers containers init-addr last,libc,none', '')
      .replace(/^resolvers[\s\S]*/m, '')
      .replaceAll(/^( {4}server \S+) \S+$/gm, (_line, name) => `${name} 127.0.0.1:${servers.shift()}`)
    if (servers.length > 0) throw new Error(`the balancer has no line for ${servers}`)
    writeFileSync(file, text)
    const server = new HaproxyProcess(port, file)
    await server.restart()
    return server
  }

  async restart(): Promise<void> {
    this.#process.start('haproxy', ['-db', '-f', this.#file])
    while (!(await takesConnections(this.#port))) {
      if (!this.#process.isRunning) throw new Error(`haproxy does not take ${this.#file}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async kill(): Promise<void> {
    await this.#process.kill()
  }
}
