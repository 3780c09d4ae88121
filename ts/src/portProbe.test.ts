import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort, PortError } from './portProbe.ts'

test('behavior: a free port is held until the workers listen', async () => {
  const host = '127.0.0.1'
  const found = await Promise.all(Array.from({ length: 20 }, () => freePort(host, 0)))
  expect(new Set(found.map(({ port }) => port)).size).toBe(20)
  const [{ port } = { port: 0 }] = found
  const bind = async () => {
    const socket = createSocket('udp4')
    socket.bind({ address: host, port, exclusive: true })
    await once(socket, 'listening')
    socket.close()
  }
  await expect(bind()).rejects.toThrow('EADDRINUSE')
  for (const one of [...found, ...found]) one.release()
  await bind()
})

test('error: a port that is in use', async () => {
  const server = createServer()
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await expect(freePort('127.0.0.1', port)).rejects.toThrow(PortError)
  server.close()
  await once(server, 'close')
  expect((await freePort('127.0.0.1', port)).port).toBe(port)
})
