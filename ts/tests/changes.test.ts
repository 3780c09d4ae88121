import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { FeedModel } from './changeFeed.ts'
import { type ChangeMessage, ChangeStream } from './changeStream.ts'
import { describeWithNats, NatsProcess } from './natsServer.ts'
import { NodeProcess, scratchFolder } from './node.ts'

// Starts several nodes and waits for leases to end, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const publishes = 'metrics.enabled = true\nmetrics.port = 0\nfleet.changes = ["blocks", "transactions", "logs"]\n'
const headOf = (node: NodeProcess) =>
  node.result<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false])
const endsWith = (hash: string) => (messages: readonly ChangeMessage[]) =>
  messages.at(-1)?.event.cursor.includes(hash) === true

async function figure(node: NodeProcess, name: string): Promise<number> {
  const page = await (await fetch(node.metricsUrl ?? '')).text()
  return Number(new RegExp(`^rhizome_fleet_changes_${name} (.*)$`, 'm').exec(page)?.[1])
}

function startIn(nats: NatsProcess) {
  return (role: string, settings: string, place = join(scratchFolder(), 'data')) =>
    NodeProcess.start(['--workers', '1', '--fleet', role, '--fleet-url', nats.url, '--data-dir', place], settings)
}

/** Waits until one of the nodes publishes, and returns it. */
async function holderOf(...nodes: NodeProcess[]): Promise<NodeProcess> {
  for (;;) {
    for (const node of nodes) if ((await figure(node, 'holder')) === 1) return node
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Applies all messages but the first, and checks that each follows the one before. */
function modelOf([begin, ...rest]: readonly ChangeMessage[]): FeedModel {
  const model = new FeedModel()
  let previous = begin?.event.cursor
  for (const message of rest) {
    expect(message.previous).toBe(previous)
    model.apply(message.event)
    previous = message.event.cursor
  }
  return model
}

async function mineTo(node: NodeProcess, number: number): Promise<string> {
  while (Number((await headOf(node)).number) < number) await node.result('evm_mine')
  return (await headOf(node)).hash
}

describeWithNats('the stream of changes', () => {
  test('behavior: nothing is lost, doubled or out of order through killed holders and reorganizations', async () => {
    const nats = await NatsProcess.start()
    const start = startIn(nats)
    const place = join(scratchFolder(), 'data')
    let first = await start('importer', publishes, place)
    const [from] = await first.result<[string]>('eth_accounts')
    expect(await holderOf(first)).toBe(first)
    const genesis = (await headOf(first)).hash
    const stream = await ChangeStream.open(nats.url, genesis)
    // The stream begins at the head.
    const [begin] = await stream.until(endsWith(genesis))
    expect(begin).toMatchObject({ event: { type: 'progress' }, previous: '', contents: 'blocks,transactions,logs' })

    const second = await start('importer', '')
    const replicas = await Promise.all([start('replica', publishes), start('replica', publishes)])
    await second.result('evm_increaseTime', [30])
    const hash = await first.result<string>('eth_sendTransaction', [{ from, to: from, value: '0x1' }])
    await stream.until(endsWith(await mineTo(first, 5)))
    expect(stream.messages.flatMap(({ event }) => event.transactions ?? []).map((one) => one.hash)).toContain(hash)

    // The replicas change to the branch of the other importer, and one of them continues.
    await first.stop('SIGKILL')
    const branch = await mineTo(second, 8)
    const holder = await holderOf(...replicas)
    await stream.until(endsWith(branch))
    expect(await figure(holder, 'sequence')).toBe(stream.messages.length)
    expect(await figure(holder, 'published_total')).toBeGreaterThanOrEqual(8 + 5)

    // The next holder dies while the chain changes back.
    first = await start('importer', publishes, place)
    const back = mineTo(first, 15)
    await stream.until((messages) => messages.at(-1)?.event.number !== '0x8')
    await holder.stop('SIGKILL')
    await stream.until(endsWith(await back))

    const model = modelOf(stream.messages)
    expect(stream.messages.filter(({ event }) => event.type === 'retracted').length).toBeGreaterThanOrEqual(5 + 8)
    for (const [index, { hash: one }] of model.blocks.entries()) {
      const block = await first.result<{ hash: string }>('eth_getBlockByNumber', [
        `0x${(index + 1).toString(16)}`,
        false,
      ])
      expect(block.hash).toBe(one)
    }
    expect(model.blocks).toHaveLength(15)
    await stream.close()
    await Promise.all([first, second, ...replicas.filter((one) => one !== holder)].map((node) => node.stop()))
    await nats.kill()
  })

  test('behavior: a holder that stood still adds nothing when it continues', async () => {
    const nats = await NatsProcess.start()
    const start = startIn(nats)
    const importer = await start('importer', publishes)
    expect(await holderOf(importer)).toBe(importer)
    const stream = await ChangeStream.open(nats.url, (await headOf(importer)).hash)
    await stream.until(endsWith(await mineTo(importer, 2)))
    await importer.stop('SIGKILL')
    const replicas = await Promise.all([start('replica', publishes), start('replica', publishes)])
    const miner = await start('importer', '')
    const holder = await holderOf(...replicas)
    const other = replicas.find((one) => one !== holder) as NodeProcess
    holder.child.kill('SIGSTOP')
    await stream.until(endsWith(await mineTo(miner, 5)))
    expect(await holderOf(other)).toBe(other)
    holder.child.kill('SIGCONT')
    for (let number = 6; number <= 20; number++) {
      await mineTo(miner, number)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await stream.until(endsWith((await headOf(miner)).hash))
    expect(modelOf(stream.messages).blocks.at(-1)?.hash).toBe((await headOf(miner)).hash)
    expect(await figure(holder, 'holder')).toBe(0)
    await stream.close()
    await Promise.all([miner, ...replicas].map((node) => node.stop()))
    await nats.kill()
  })
})
