// A NATS server with JetStream for the benchmark of fleets.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { natsServer } from '../../scripts/setup/natsServer.mjs'
import { freePort, launch, scratchFolder } from '../targets/target.mjs'

export const hasNats = natsServer() !== undefined

/** Starts a server on a free port. Resolves with its URL and a function that stops it. */
export async function startNats() {
  const folder = scratchFolder('nats')
  const port = await freePort()
  const config = join(folder, 'server.conf')
  const streams = `jetstream { store_dir: ${JSON.stringify(join(folder, 'streams'))} }`
  writeFileSync(config, `listen: 127.0.0.1:${port}\nmax_payload: 16MB\n${streams}\n`)
  const child = launch(natsServer(), ['-c', config])
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null || child.failure !== undefined)
      throw new Error(`nats-server ended: ${child.failure ?? child.errors}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { url: `nats://127.0.0.1:${port}`, stop: () => child.kill('SIGKILL') }
}

function takesConnections(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
