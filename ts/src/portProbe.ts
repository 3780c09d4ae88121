import { type AddressInfo, createServer } from 'node:net'

/** The port is in use or not permitted. */
export class PortError extends Error {
  override name = 'PortError'
}

/**
 * Returns `port`, or a free port for 0. Throws PortError if the port is in use: because workers share their port, a second
 * node could share it by accident, and the kernel would spread connections over both nodes.
 */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new PortError(describe(error, host, port))))
    probe.listen({ host, port, exclusive: true }, () => {
      const { port: found } = probe.address() as AddressInfo
      probe.close(() => resolve(found))
    })
  })
}

function describe(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use; choose another with --http-port`
  if (error.code === 'EACCES') return `port ${port} needs privileges that this process does not have`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') return `${host} is not an address of this machine`
  return `cannot listen on ${host}:${port} (${error.code ?? error.message})`
}
