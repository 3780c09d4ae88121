import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, type ProgramResult, runCommand, scratchFolder } from './node.ts'

const folder = scratchFolder()
let own: NodeProcess
let other: NodeProcess
const liars: Server[] = []

/** Passes requests to a node, and changes answers. Returns its URL. */
async function liar(
  node: NodeProcess,
  lie: (method: string, answer: { result?: unknown }) => unknown,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => {
      body += bytes
    })
    request.on('end', async () => {
      const answer = await node.post(body)
      const { method } = JSON.parse(body) as { method: string }
      response.end(JSON.stringify(lie(method, answer.body as { result?: unknown })))
    })
  })
  liars.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function compare(reference: string, ...flags: string[]): Promise<ProgramResult> {
  return runCommand(['compare', '--with', reference, '--url', own.url, '--seed', '1', ...flags])
}

beforeAll(async () => {
  const packed = fileURLToPath(new URL('../../tests/vectors/rpc/chain-a.blocks.gz', import.meta.url))
  const blocks = join(folder, 'chain-a.blocks')
  writeFileSync(blocks, gunzipSync(readFileSync(packed)))
  const started = ['own', 'other'].map(async (name) => {
    const data = ['--data-dir', join(folder, name)]
    expect(await runCommand(['import', blocks, ...data])).toMatchObject({ code: 0 })
    return NodeProcess.start([...data, '--mining', 'off'])
  })
  const [first, second] = await Promise.all(started)
  if (first === undefined || second === undefined) throw new Error('no nodes')
  own = first
  other = second
}, 120_000)

afterAll(async () => {
  for (const server of liars) server.close()
  await Promise.all([own, other].map((node) => node.stop()))
})

describe('rhizome compare', { timeout: 120_000 }, () => {
  test('behavior: equal nodes have no differences', async () => {
    const { code, output, errors } = await compare(other.url, '--requests', '400')
    expect([code, errors]).toEqual([0, ''])
    expect(output).toMatch(/\d+ requests about blocks 0 to \d+ \(seed 1\): 0 differences\n$/)
  })

  test('behavior: a wrong balance is a difference, and the exit code is 1', async () => {
    const url = await liar(other, (method, answer) =>
      method === 'eth_getBalance' ? { ...answer, result: '0x1234' } : answer,
    )
    const { code, output } = await compare(
      url,
      '--methods',
      'eth_getBalance,eth_getTransactionCount',
      '--requests',
      '10',
    )
    expect(code).toBe(1)
    expect(output).toMatch(
      /^eth_getBalance \["0x[0-9a-f]{40}","0x[0-9a-f]+"\]: result: "0x[0-9a-f]+", the reference has "0x1234"$/m,
    )
    expect(output).toMatch(/: 5 differences\n$/)
    const { output: json } = await compare(url, '--methods', 'eth_getBalance', '--requests', '2', '--json')
    const lines = json
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toEqual([
      expect.objectContaining({ method: 'eth_getBalance', differences: [expect.objectContaining({ path: 'result' })] }),
      expect.objectContaining({ method: 'eth_getBalance' }),
      { requests: 2, first: 0, last: expect.any(Number), seed: 1, differences: 2, known: {}, withoutObjects: [] },
    ])
  })

  test('behavior: a missing member, another length and an error are differences', async () => {
    const url = await liar(other, (method, answer) => {
      const block = answer.result as { size?: string; uncles?: string[] }
      if (method === 'eth_getBlockByHash') return { ...answer, result: { ...block, size: undefined, uncles: ['0x'] } }
      return method === 'eth_getCode' ? { error: { code: -32603, message: 'no' } } : answer
    })
    const { code, output } = await compare(url, '--methods', 'eth_getBlockByHash,eth_getCode', '--requests', '2')
    expect(code).toBe(1)
    expect(output).toMatch(/result\.size: "0x[0-9a-f]+", the reference has nothing/)
    expect(output).toMatch(/result\.uncles: \[.*\], the reference has \["0x"\]/)
    expect(output).toMatch(/eth_getCode .* answer: "0x.*", the reference has \{"code":-32603,"message":"no"\}/)
  })

  test('behavior: known differences are named and do not count', async () => {
    const url = await liar(other, (method, answer) => {
      const { result } = answer as { result: { r?: string } | null }
      if (method !== 'eth_getTransactionByHash' || !result?.r) return answer
      return { ...answer, result: { ...result, r: `0x${BigInt(result.r).toString(16).padStart(66, '0')}` } }
    })
    const { code, output } = await compare(url, '--methods', 'eth_getTransactionByHash', '--requests', '20')
    expect(code).toBe(0)
    expect(output).toMatch(/^known, \d+ times: D55: /m)
  })

  test('error: another network, no node, no JSON, a wrong URL, an unknown method', async () => {
    const mainnet = await NodeProcess.start(['--network', 'mainnet', '--data-dir', join(folder, 'mainnet')])
    const text = await liar(other, () => 'text')
    for (const [reference, flags, expected, reason] of [
      [mainnet.url, [], 1, 'nodes of two networks'],
      ['http://127.0.0.1:1', [], 1, 'http://127.0.0.1:1: eth_blockNumber: '],
      [text, [], 1, 'not an answer of JSON-RPC (HTTP 200)'],
      ['localhost', [], 2, 'expected an http or https URL'],
      [other.url, ['--methods', 'eth_sendRawTransaction'], 2, 'eth_sendRawTransaction cannot be compared'],
    ] as const) {
      const { code, errors } = await compare(reference, ...flags)
      expect([code, errors]).toEqual([expected, expect.stringContaining(reason)])
    }
    await mainnet.stop()
  })
})
