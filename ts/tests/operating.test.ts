import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NodeProcess, scratchFolder } from './node.ts'
import { Client } from './webSocket.ts'

const pair = '[{"id":1,"method":"eth_chainId"},{"id":2,"method":"eth_chainId"}]'
const lines = (node: NodeProcess) =>
  node.errors
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('SIGHUP', () => {
  test('behavior: limits change in all workers, other settings are named, an invalid file changes nothing', async () => {
    const file = join(scratchFolder(), 'rhizome.toml')
    writeFileSync(file, '')
    const node = await NodeProcess.start(['--workers', '3', '--config', file])
    const batch = async () => (await node.post(pair, { 'content-type': 'application/json', connection: 'close' })).body
    expect(await batch()).toHaveLength(2)

    expect(await node.result('web3_clientVersion', [])).toMatch(/Rhizome/)
    writeFileSync(file, 'storage.cacheMegabytes = 64\n[rpc]\nmaxBatchRequests = 1\nmaxResponseBytes = 8\n')
    node.child.kill('SIGHUP')
    await expect.poll(() => node.errors).toContain('these settings need a restart')
    expect(lines(node)).toMatchObject([{ thread: 'main', settings: ['storage.cacheMegabytes'] }])
    const all = async () => Promise.all(Array.from({ length: 12 }, batch))
    await expect.poll(async () => (await all()).every((answer) => !Array.isArray(answer))).toBe(true)
    expect((await node.ask('web3_clientVersion', [])).error?.code).toBe(-32011)

    writeFileSync(file, '[rpc]\nmaxBatchRequest = 5\n')
    node.child.kill('SIGHUP')
    await expect.poll(() => node.errors).toContain('invalid configuration; keeping the current one')
    expect(lines(node).at(-1).problems).toEqual([expect.stringMatching(/^rpc\.maxBatchRequest: no such setting/)])
    expect(await batch()).toMatchObject({ error: { code: -32600 } })
    expect(await node.stop('SIGTERM')).toBe(0)
  })

  test('behavior: without a file it ends the node', async () => {
    const node = await NodeProcess.start()
    expect(await node.stop('SIGHUP')).toBe(0)
  })
})

describe('SIGTERM', () => {
  test('behavior: running requests are answered, WebSockets get a close code, new connections are refused', async () => {
    const node = await NodeProcess.start(['--workers', '1'], 'http.drainMs = 20000\n')
    const client = await Client.open(node.url)
    // Runs until its gas is used up.
    const call = [{ data: '0x5b600056' }, 'latest']
    const running = client.exchange(JSON.stringify({ id: 5, method: 'eth_call', params: call }))
    const ended = node.stop('SIGTERM')
    expect(await running).toMatchObject({ id: 5, error: { message: expect.not.stringContaining('Internal') } })
    expect(await client.closed).toEqual({ code: 1001, reason: 'Server is shutting down' })
    expect(await ended).toBe(0)
    await expect(node.ask('eth_chainId')).rejects.toThrow()
    expect(node.errors).toBe('')
  })
})

describe('the log', () => {
  test('behavior: slow requests with their method, without parameters', async () => {
    const node = await NodeProcess.start(['--workers', '1'], 'rpc.slowMs = 0\n')
    const key = 'c0ffee'.padEnd(64, '1')
    await node.result('personal_importRawKey', [key, 'open sesame'])
    await node.ask('personal_importRawKey', [`0x${key}zz`, 'open sesame'])
    await node.ask(key.repeat(100))
    const [first, second, third] = lines(node)
    expect(first).toMatchObject({
      level: 40,
      thread: 'worker 0',
      request: expect.stringMatching(/^[0-9a-f]{12}-1$/),
      method: 'personal_importRawKey',
      msg: 'slow request',
    })
    expect(first.time).toMatch(/^\d{4}-.*Z$/)
    expect(second).toMatchObject({ request: expect.stringMatching(/-2$/), errorCode: -32602 })
    expect(third.method).toHaveLength(64)
    expect(node.errors.split('\n').slice(0, 2).join()).not.toMatch(/c0ffee|sesame/)
    await node.stop()
  })

  test('behavior: the name of a request that failed is in its answer; callers may choose it', async () => {
    const node = await NodeProcess.start(['--workers', '1'], 'rpc.slowMs = 0\n')
    const ask = async (body: string, headers: Record<string, string> = {}) => {
      const json = { 'content-type': 'application/json' }
      const response = await fetch(node.url, { method: 'POST', headers: { ...json, ...headers }, body })
      await response.arrayBuffer()
      return response.headers.get('x-request-id')
    }
    const good = '{"id":1,"method":"net_version"}'
    const bad = '{"id":1,"method":"nope"}'
    expect(await ask(good)).toBeNull()
    expect(await ask(good, { 'x-request-id': 'abc-1' })).toBeNull()
    expect(await ask(bad, { 'x-request-id': 'abc-2' })).toBe('abc-2')
    expect(await ask(`[${good},${bad}]`, { 'x-request-id': 'abc-3' })).toBe('abc-3')
    const ours = await ask(bad, { 'x-request-id': 'rz_not_a_name' })
    expect(ours).toMatch(/^[0-9a-f]{12}-\d+$/)
    expect(await ask('{', { 'x-request-id': 'abc-4' })).toBe('abc-4')
    const names = lines(node).map(({ request }) => request)
    expect(names).toEqual([expect.stringMatching(/-1$/), 'abc-1', 'abc-2', 'abc-3', 'abc-3', ours])
    expect(node.errors).not.toContain('rz_')
    await node.stop()
  })
})
