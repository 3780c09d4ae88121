import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections and to listeners on port 0: a test that runs
// meanwhile cannot take the port between this check and its use.
const LOWEST = 10_000
const PORTS = 20_000

let next = randomInt(PORTS)

/** Returns a free loopback port, a different one with each call. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS; tried++) {
    const port = LOWEST + (next++ % PORTS)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port from ${LOWEST} to ${LOWEST + PORTS - 1}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
