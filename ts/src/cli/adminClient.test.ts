import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import type { Config } from '../config/schema.ts'
import { AdminClient } from './adminClient.ts'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

/** Sends a request to a server with one answer. */
async function answerOf(status: number, body: string): Promise<unknown> {
  const server = createServer((_request, response) => response.writeHead(status).end(body))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const config = { admin: { host: '127.0.0.1', port, tokenFile: '' } } as Config
  return new AdminClient(config).ask('GET', '/api/peers')
}

test('behavior: answers of a node are returned, its refusals are thrown', async () => {
  expect(await answerOf(200, '{"peers":[]}')).toEqual({ peers: [] })
  await expect(answerOf(404, '{"error":{"code":"unknown","message":"id: no such peer"}}')).rejects.toThrow(
    /^id: no such peer$/,
  )
})

test('error: another program listens at the address', async () => {
  for (const [status, body] of [
    [200, '<html>'],
    [404, '<html>'],
    [500, '{"message":"no"}'],
    [404, 'null'],
  ] as const) {
    await expect(answerOf(status, body)).rejects.toThrow(`not the admin API of a node (HTTP ${status})`)
  }
})
