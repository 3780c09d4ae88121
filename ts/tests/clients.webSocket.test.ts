import { fileURLToPath } from 'node:url'
import { WebSocketProvider } from 'ethers'
import { createPublicClient, parseAbiItem, type Log as ViemLog, webSocket } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { HostedNode } from './conformance/hostedNode.ts'
import { Transcripts } from './conformance/transcript.ts'
import { Client, type Notification } from './webSocket.ts'

// Two branches: three blocks with two logs, and seven blocks without logs that replace them.
const lab = '0x77045e71a7a2c50903d88e564cd72fab11e82051'
const root = fileURLToPath(new URL('../..', import.meta.url))
const recordings = new Transcripts(`${root}/tests/vectors/rpc`)
const replaced = recordings.blockLines('deep-reorg.replaced.blocks')
const better = recordings.blockLines('deep-reorg.blocks').slice(1)
const hashesOf = (lines: readonly string[]) => lines.map((line) => `0x${line.split(',')[1]}`)
/** Notifications of a subscriber: heights of logs, negative for removed logs. */
const told = [2, 3, -3, -2]

let node: HostedNode
const nodes: HostedNode[] = []
beforeEach(async () => {
  await Promise.all(nodes.splice(0).map((one) => one.stop()))
  node = await HostedNode.start(root, { mining: 'off', http: { port: 0, workers: 2 }, log: { level: 'warn' } })
  nodes.push(node)
})
afterAll(() => Promise.all(nodes.map((one) => one.stop())))

/** Waits until events have filled a list. */
async function filled(list: readonly unknown[], length: number): Promise<void> {
  for (let patience = 0; list.length < length && patience < 500; patience++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('clients over WebSocket see a reorganisation', () => {
  test('ethers', async () => {
    const provider = new WebSocketProvider(node.url.replace('http', 'ws'))
    expect((await provider.getNetwork()).chainId).toBe(33n)
    expect(await Promise.all([provider.getBlockNumber(), provider.getBalance(lab)])).toEqual([0, 0n])
    const [blocks, logs]: [number[], number[]] = [[], []]
    await provider.on('block', (number: number) => blocks.push(number))
    // The library emits removed logs as separate events, whose names only the library can compute.
    await provider.on({ address: lab }, ({ blockNumber }) => logs.push(blockNumber))
    // The library does not wait for the answers to its subscriptions; a later answer follows them.
    await provider.send('eth_syncing', [])
    for (const line of replaced) await node.importLines([line])
    await filled(logs, 2)
    await node.importLines(better)
    await filled(blocks, 10)
    expect(logs).toEqual([2, 3])
    expect(blocks).toEqual([1, 2, 3, 1, 2, 3, 4, 5, 6, 7])
    await provider.destroy()
  })

  test('viem', async () => {
    const client = createPublicClient({ transport: webSocket(node.url.replace('http', 'ws')) })
    expect(await client.getChainId()).toBe(33)
    const [blocks, logs]: [bigint[], number[]] = [[], []]
    const stopBlocks = client.watchBlocks({ onBlock: ({ number }) => blocks.push(number) })
    const stopLogs = client.watchEvent({
      address: lab,
      onLogs: (found: ViemLog[]) => {
        for (const { blockNumber, removed } of found) logs.push(removed ? -Number(blockNumber) : Number(blockNumber))
      },
    })
    const stopNothing = client.watchEvent({
      address: lab,
      event: parseAbiItem('event Nothing(uint256)'),
      onLogs: () => {
        logs.push(0)
      },
    })
    await client.getBlockNumber()
    for (const line of replaced) await node.importLines([line])
    await filled(logs, 2)
    await node.importLines(better)
    await filled(logs, 4)
    expect(logs).toEqual(told)
    await filled(blocks, 10)
    expect(blocks.slice(0, 3)).toEqual([1n, 2n, 3n])
    expect(blocks.at(-1)).toBe(7n)
    for (const stop of [stopBlocks, stopLogs, stopNothing]) stop()
    await (await client.transport.getRpcClient()).close()
  })

  test('web3.js', async () => {
    const web3 = new Web3(node.url.replace('http', 'ws'))
    expect(await web3.eth.getChainId()).toBe(33n)
    const [blocks, logs]: [number[], number[]] = [[], []]
    const heads = await web3.eth.subscribe('newBlockHeaders')
    heads.on('data', ({ number }) => {
      blocks.push(Number(number))
    })
    const events = await web3.eth.subscribe('logs', { address: lab })
    const push = (log: unknown): void => {
      const { blockNumber, removed } = log as { blockNumber: bigint; removed: boolean }
      logs.push(removed ? -Number(blockNumber) : Number(blockNumber))
    }
    events.on('data', push)
    for (const line of replaced) await node.importLines([line])
    await filled(logs, 2)
    await node.importLines(better)
    await filled(logs, 4)
    await filled(blocks, 10)
    expect(logs).toEqual(told)
    expect(blocks).toEqual([1, 2, 3, 1, 2, 3, 4, 5, 6, 7])
    await heads.unsubscribe()
    await events.unsubscribe()
    web3.provider?.disconnect()
  })
})

test('behavior: a reorganisation in notifications and filters', async () => {
  const client = await Client.open(node.url)
  const heads = await client.result('eth_subscribe', ['newHeads'])
  await client.result('eth_subscribe', ['logs', {}])
  const filters = [
    await client.result<string>('eth_newFilter', [{ fromBlock: '0x0' }]),
    await client.result<string>('eth_newBlockFilter'),
  ]
  const poll = async () => [
    await client.result<unknown[]>('eth_getFilterChanges', [filters[0]]),
    await client.result<unknown[]>('eth_getFilterChanges', [filters[1]]),
  ]
  const short = ({ params: { subscription, result } }: Notification) => {
    const { number, blockNumber, removed } = result as { number: string; blockNumber: string; removed: boolean }
    return subscription === heads ? `head ${Number(number)}` : `log ${removed ? '-' : ''}${Number(blockNumber)}`
  }
  for (const line of replaced) await node.importLines([line])
  expect((await client.take(5)).map(short)).toEqual(['head 1', 'head 2', 'log 2', 'head 3', 'log 3'])
  const [firstLogs = [], firstBlocks] = await poll()
  expect(firstLogs).toHaveLength(2)
  expect(firstBlocks).toEqual(hashesOf(replaced))

  await node.importLines(better)
  const after = await client.take(9)
  expect(after.map(short)).toEqual(['log -3', 'log -2', ...[1, 2, 3, 4, 5, 6, 7].map((number) => `head ${number}`)])
  const [logs, blocks] = await poll()
  expect(logs).toEqual(firstLogs.toReversed().map((log) => ({ ...(log as object), removed: true })))
  expect(after.slice(0, 2).map((one) => one.params.result)).toEqual(logs)
  expect(blocks).toEqual(hashesOf(better))
  expect(await client.result('eth_getFilterLogs', [filters[0]])).toEqual([])
  await client.close()
})
