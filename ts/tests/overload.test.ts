import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

// Runs until its gas or its time is used up.
const endless = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ data: '0x5b600056' }, 'latest'] }

let node: NodeProcess
beforeAll(async () => {
  const settings = '[rpc]\nmaxWaiting = 2\ncallGasCap = 9000000000\ntimeoutMs = 4000\n'
  node = await NodeProcess.start(['--workers', '1'], settings)
})
afterAll(() => node.stop())

test('behavior: a full executor refuses with Retry-After, the other executor and short reads continue', async () => {
  const post = () =>
    fetch(node.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(endless),
    })
  const waiting = Array.from({ length: 300 }, async () => {
    const response = await post()
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: (await response.json()) as { error: { code: number } },
    }
  })
  const first = await Promise.race(waiting)
  expect(first).toEqual({
    status: 503,
    retryAfter: '1',
    body: { jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'Server overloaded' } },
  })
  expect(await node.result('eth_blockNumber')).toBe('0x0')
  expect((await node.ask('debug_traceTransaction', [`0x${'11'.repeat(32)}`])).error?.code).not.toBe(-32005)
  const client = await Client.open(node.url)
  expect(await client.exchange(JSON.stringify(endless))).toMatchObject({ error: { code: -32005 } })
  await client.close()
  const all = await Promise.all(waiting)
  const refused = all.filter(({ status }) => status === 503)
  expect(refused.every((answer) => answer.retryAfter === '1')).toBe(true)
  const executed = all.filter(({ status }) => status === 200)
  expect(executed.length).toBeGreaterThan(0)
  expect(executed.every(({ body }) => [-32011, -32015].includes(body.error.code))).toBe(true)
  expect(refused.length + executed.length).toBe(300)
  // The queue has room again.
  expect((await post()).status).toBe(200)
})
