import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { keccak256 } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeProcess, scratchFolder } from './node.ts'

// A fork of a chain of rskj, whose answers `npm run live -- fork --record FILE` has recorded.

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

interface Recording {
  /** Block that the fork begins at. */
  readonly number: number
  /** Answers of rskj to the requests of a fork, by method and parameters. */
  readonly answers: Readonly<Record<string, Answer>>
  /** Method and parameters; answers of rskj at that block, and after the next block. */
  readonly questions: readonly (readonly [readonly unknown[], Answer, Answer])[]
  /** Signed transactions, and the essence of their receipts. */
  readonly transactions: readonly (readonly [string, unknown])[]
  /** Calls of `balanceOf` of a token, and of a token behind a proxy. */
  readonly cold: readonly object[]
}

interface Receipt {
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  readonly [member: string]: unknown
}

const file = new URL('../../tests/vectors/fork/rskj.json.gz', import.meta.url)
const recording = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recording
/** Methods that a fork may ask: state and blocks. */
const reads =
  /^(eth_chainId|eth_getBalance|eth_getTransactionCount|eth_getCode|eth_getStorageAt|rsk_getStorageBytesAt|eth_getBlockBy\w+|eth_getUncleByBlockHashAndIndex)$/
const cacheIn = (folder: string): string => `[fork]\ncacheDir = ${JSON.stringify(folder)}\n`
const cache = cacheIn(scratchFolder())

let remote: Server
let fork: NodeProcess
let requests = 0
const unknown: string[] = []
const methods = new Set<string>()

const start = (settings = cache): Promise<NodeProcess> => {
  const url = `http://127.0.0.1:${(remote.address() as AddressInfo).port}`
  return NodeProcess.start(['--fork', url, '--fork-block', String(recording.number), '--compat', 'reference'], settings)
}

beforeAll(async () => {
  remote = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests++
    const body = JSON.parse(Buffer.concat(chunks).toString()) as object
    const answers = [body].flat().map((call) => {
      const { id, method, params } = call as { id: number; method: string; params: unknown[] }
      methods.add(method)
      const known = recording.answers[`${method} ${JSON.stringify(params)}`]
      if (known === undefined) unknown.push(`${method} ${JSON.stringify(params)}`)
      return { jsonrpc: '2.0', id, ...(known ?? { error: { code: -32603, message: 'not recorded' } }) }
    })
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve))
  fork = await start()
}, 60_000)

afterAll(async () => {
  await fork.stop()
  remote.close()
  remote.closeAllConnections()
})

async function answers(node: NodeProcess): Promise<Answer[]> {
  const found: Answer[] = []
  for (const [[method, ...params]] of recording.questions) {
    const { result, error } = await node.ask(method as string, params as unknown[])
    found.push(error === undefined ? { result } : ({ error } as Answer))
  }
  return found
}

/** Returns the members of a receipt that do not depend on hashes of blocks. */
function essence({ logs, ...receipt }: Receipt): unknown {
  const shown = logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex }))
  const { status, gasUsed, cumulativeGasUsed, contractAddress, logsBloom, blockNumber, to, from } = receipt
  return { status, gasUsed, cumulativeGasUsed, contractAddress, logs: shown, logsBloom, blockNumber, to, from }
}

test('behavior: calls, estimates, state and the Bridge are those of rskj, by reads of state and blocks', async () => {
  expect(await answers(fork)).toEqual(recording.questions.map(([, answer]) => answer))
  await fork.result('evm_mine')
  expect(await answers(fork)).toEqual(recording.questions.map(([, , answer]) => answer))
  expect(unknown).toEqual([])
  expect([...methods].filter((method) => !reads.test(method))).toEqual([])
}, 60_000)

test('behavior: transactions have the gas, status and logs that they have on rskj', async () => {
  for (const [raw, expected] of recording.transactions) {
    // A failed transaction is mined, and answers with its error.
    await fork.ask('eth_sendRawTransaction', [raw])
    const receipt = await fork.result<Receipt>('eth_getTransactionReceipt', [keccak256(raw)])
    expect(essence(receipt), raw).toEqual(expected)
  }
  expect(unknown).toEqual([])
}, 60_000)

test('behavior: a second run makes no request', async () => {
  await fork.stop()
  requests = 0
  fork = await start()
  expect(await answers(fork)).toEqual(recording.questions.map(([, answer]) => answer))
  expect(requests).toBe(0)
}, 60_000)

test('behavior: the first balanceOf of a token takes few round trips', async () => {
  const counts: number[] = []
  for (const call of recording.cold) {
    const cold = await start(cacheIn(scratchFolder()))
    requests = 0
    await cold.result('eth_call', [call, 'latest'])
    counts.push(requests)
    await cold.stop()
  }
  // The token and its slot; the contract behind the proxy.
  expect(counts).toEqual([2, 3])
  expect(unknown).toEqual([])
}, 60_000)
