import { type AddressInfo, createServer } from 'node:net'

/** The port is taken, or may not be used. */
export class PortError extends Error {
  override name = 'PortError'
}

/**
 * The port to serve on: the given one, for 0 a free one. Fails when something listens there already. Workers share their
 * port, and so would a second node by accident: the kernel would spread connections over both.
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
