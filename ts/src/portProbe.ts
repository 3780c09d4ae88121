import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer } from 'node:net'

/** The port is in use or not permitted. */
export class PortError extends Error {
  override name = 'PortError'
}

/** A port on which nothing listens. */
export interface FreePort {
  readonly port: number
  /** Call when the workers listen, or do not start. */
  release(): void
}

const mostTries = 100

/**
 * Returns `port`, or a free port for 0. Throws PortError if the port is in use: because workers share their port, a second
 * node could share it by accident, and the kernel would spread connections over both nodes. For the same reason two nodes that start
 * at the same time must not find the same free port: until the workers listen, each holds the UDP port of the same number.
 */
export async function freePort(host: string, port: number): Promise<FreePort> {
  for (let tries = 1; ; tries++) {
    const found = await probe(host, port)
    const release = port === 0 ? await hold(host, found) : () => undefined
    if (release !== undefined) return { port: found, release }
    if (tries === mostTries)
      throw new PortError(`no free port on ${host} in ${mostTries} tries; choose one with --http-port`)
  }
}

function probe(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => reject(new PortError(describe(error, host, port))))
    server.listen({ host, port, exclusive: true }, () => {
      const { port: found } = server.address() as AddressInfo
      server.close(() => resolve(found))
    })
  })
}

/** Returns the function that releases the UDP port; undefined if another program has it. A system without UDP holds nothing. */
function hold(host: string, port: number): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close()
      resolve(error.code === 'EADDRINUSE' ? undefined : () => undefined)
    })
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.unref()
      let isHeld = true
      resolve(() => {
        if (isHeld) socket.close()
        isHeld = false
      })
    })
  })
}

function describe(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use; choose another with --http-port`
  if (error.code === 'EACCES') return `port ${port} needs privileges that this process does not have`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return `${host} is not an address of this machine`
  return `cannot listen on ${host}:${port} (${error.code ?? error.message})`
}
