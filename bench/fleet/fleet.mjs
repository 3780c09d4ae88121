// A fleet on this machine: one importer, three replicas and a NATS server. Times from the importer's head to that of all replicas,
// cost of a request on a replica, speed at which a new replica catches up, and change feeds.
import { join } from 'node:path'
import { compile } from '../../docs/examples/compile.mjs'
import { call, callAll, until } from '../chain/client.mjs'
import { median } from '../rpc/compare.mjs'
import { buildDriver, drive, Plan } from '../rpc/driver.mjs'
import { learn } from '../rpc/learn.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { scratchFolder } from '../targets/target.mjs'
import { catchUpSpeed } from './catchUp.mjs'
import { FeedClient } from './feedClient.mjs'
import { HeadTimes } from './headTimes.mjs'
import { hasNats, startNats } from './nats.mjs'

const thorough = { blocks: 300, rounds: 40, roundMs: 400, seconds: 20, history: 300, replicas: 5 }
const quick = { blocks: 40, rounds: 5, roundMs: 400, seconds: 5, history: 60, replicas: 1 }
const replicaCount = 3
const transfersPerBlock = 50
const clients = 50
const logsPerSecond = 1000
const emptyBlocks = 20_000
/** Time until the code of a worker is compiled. */
const warmMs = 4000
const least = { catchUp: 0.8 }
/** `cost`: no higher, apart from noise. */
const most = { median: 20, p99: 100, cost: 1.03, feedMs: 1000, growthMb: 128, share: 0.8 }
const { bytecode } = compile('Emitter', import.meta.url)
/** emitMany(uint256) */
const emitMany = '0x9b642509'

export async function run(report, { isQuick }) {
  if (!hasNats) {
    process.stdout.write('  not measured: nats-server is not installed\n')
    return
  }
  const pace = isQuick ? quick : thorough
  buildDriver()
  const nats = await startNats()
  const start = (role, workers, ...flags) =>
    startRhizome({
      workers,
      flags: flags.includes('--data-dir') ? flags : ['--data-dir', join(scratchFolder('fleet'), 'data'), ...flags],
      env: role === undefined ? {} : { RHIZOME_FLEET_ROLE: role, RHIZOME_FLEET_URL: nats.url },
    })
  const importer = await start('importer', 1, '--mining', 'off')
  const replicas = []
  for (let index = 0; index < replicaCount; index++) replicas.push(await start('replica', 1))
  const single = await start(undefined, 1, '--mining', 'off')
  const nodes = [importer, ...replicas, single]
  try {
    // Before any block: both have the same state.
    await cost(report, pace, replicas[0], single)
    await latency(report, pace, importer, replicas)
    for (const node of nodes) await node.stop()
    const speed = await catchUpSpeed({ url: nats.url, start, rounds: pace.replicas })
    const name = 'a new replica catches up, relative to an import of the blocks'
    bar(report, name, speed, 'x', `bar: ${least.catchUp}`, speed >= least.catchUp)
    const feeding = await start(undefined, 0, '--mining', 'off')
    nodes.push(feeding)
    await feeds(report, pace, feeding)
  } finally {
    for (const node of nodes) await node.stop()
    nats.stop()
  }
}

function bar(report, name, value, unit, limit, isMet) {
  report({ name, value, unit: `${unit} (${limit})${isMet ? '' : ': NOT MET'}`, isFailure: !isMet })
}

/** Time from the head of the importer to that of the last replica, for blocks with transactions of a replica. */
async function latency(report, { blocks }, importer, replicas) {
  const senders = (await call(importer.url, 'eth_accounts')).slice(0, 10)
  const heads = await Promise.all([importer, ...replicas].map(({ webSocketUrl }) => HeadTimes.open(webSocketUrl)))
  const transfers = Array.from({ length: transfersPerBlock }, (_, index) => {
    const from = senders[index % senders.length]
    return ['eth_sendTransaction', [{ from, to: senders[0], value: '0x1', gas: '0x5208', gasPrice: '0x1' }]]
  })
  const times = []
  for (let block = 0; block < blocks; block++) {
    await callAll(importer.url, transfers)
    await call(importer.url, 'evm_mine')
    const { hash, transactions } = await call(importer.url, 'eth_getBlockByNumber', ['latest', false])
    if (transactions.length <= transfersPerBlock) throw new Error(`${transactions.length} transactions in a block`)
    const [own, ...others] = await Promise.all(heads.map((one) => one.of(hash)))
    // The first blocks meet cold code.
    if (block >= 5) times.push(Math.max(...others) - own)
  }
  for (const one of heads) one.close()
  times.sort((a, b) => a - b)
  const p99 = times[Math.ceil(times.length * 0.99) - 1]
  const name = `importer to all of ${replicas.length} replicas, ${transfersPerBlock} transactions a block`
  bar(report, `${name}, median`, median(times), 'ms', `bar: ${most.median}`, median(times) < most.median)
  bar(report, `${name}, 99 of 100`, p99, 'ms', `bar: ${most.p99}`, p99 < most.p99)
}

/** Processor time of a request on a replica and on a node without a fleet, in interleaved rounds. */
async function cost(report, { rounds, roundMs }, replica, single) {
  const [address] = await call(single.url, 'eth_accounts')
  const request = { method: 'eth_getBalance', params: [address, 'latest'], check: (text) => text.startsWith('0x') }
  const contenders = []
  for (const node of [replica, single]) {
    const plan = new Plan(await learn(node.url, [request]))
    await drive(node.url, plan, { timeMs: warmMs, connections: 16 })
    contenders.push({ node, plan, micros: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { node, plan, micros } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const before = node.processorMs
      const { right, wrong, lost } = await drive(node.url, plan, { timeMs: roundMs, connections: 16 })
      if (wrong + lost > 0) throw new Error(`${wrong + lost} answers were wrong or lost`)
      micros.push(((node.processorMs - before) * 1000) / right)
    }
  }
  for (const { plan } of contenders) plan.remove()
  const [own, other] = contenders.map(({ micros }) => micros)
  const ratio = median(own.map((value, round) => value / other[round]))
  report({ name: 'eth_getBalance on a single node, processor time', value: median(other), unit: 'µs' })
  const name = 'the same on a replica, relative to it'
  bar(report, name, ratio, 'x', `bar: ${most.cost}`, ratio <= most.cost)
}

/** Feeds of one node: many clients at the head, and one client from genesis. */
async function feeds(report, { seconds, history }, node) {
  const { url } = node
  const [from] = await call(url, 'eth_accounts')
  const send = (transaction) => call(url, 'eth_sendTransaction', [{ from, gasPrice: '0x1', ...transaction }])
  const creation = await send({ data: bytecode, gas: '0x100000' })
  await call(url, 'evm_mine')
  const { contractAddress: emitter } = await call(url, 'eth_getTransactionReceipt', [creation])
  const count = logsPerSecond.toString(16).padStart(64, '0')
  const block = async () => {
    await send({ to: emitter, data: `${emitMany}${count}`, gas: '0x500000' })
    await call(url, 'evm_mine')
  }

  const open = (query) => FeedClient.open(url, `what=logs&address=${emitter}&${query}`)
  const readers = await Promise.all(Array.from({ length: clients }, () => open('from=latest')))
  const delays = []
  const before = node.processorMs
  const startedMs = performance.now()
  for (let second = 1; second <= seconds; second++) {
    await block()
    const minedMs = performance.now()
    await Promise.all(readers.map((reader) => reader.until(second * logsPerSecond)))
    delays.push(Math.max(...readers.map(({ lastMs }) => lastMs)) - minedMs)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedMs + second * 1000 - performance.now())))
  }
  const spent = (node.processorMs - before) / seconds
  const sent = readers.reduce((sum, { bytes }) => sum + bytes, 0) / seconds / 2 ** 20
  for (const reader of readers) reader.close()
  const name = `${clients} feeds with ${logsPerSecond} logs a second each`
  bar(
    report,
    `${name}, block to last client, slowest`,
    Math.max(...delays),
    'ms',
    `bar: ${most.feedMs}`,
    Math.max(...delays) < most.feedMs,
  )
  report({ name: `${name}, processor time a second`, value: spent, unit: `ms, ${sent.toFixed(1)} MB/s` })

  for (let number = 0; number < history; number++) await block()
  await call(url, 'hardhat_mine', [`0x${emptyBlocks.toString(16)}`])
  const head = await until(async () => {
    const found = await call(url, 'eth_getBlockByNumber', ['latest', false])
    return Number(found.number) > emptyBlocks ? found : undefined
  }, 'the chain')
  await fromGenesis(report, node, open, head, (seconds + history) * logsPerSecond, emitter)
  await sparse(report, url, head)
}

/** A client from genesis, beside the search of the same logs. */
async function fromGenesis(report, node, open, head, logs, emitter) {
  const [fed, searched, memory] = [[], [], []]
  for (let round = 0; round < 4; round++) {
    const before = node.memoryKib
    let peak = before
    const looking = setInterval(() => {
      peak = Math.max(peak, node.memoryKib)
    }, 20)
    const began = performance.now()
    const reader = await open('from=earliest')
    await reader.until(logs, head.hash)
    const fedPerMs = logs / (performance.now() - began)
    reader.close()
    clearInterval(looking)
    const searchedFrom = performance.now()
    let found = 0
    // Ranges whose answers have about the size of a page.
    for (let first = 0; first <= Number(head.number) - emptyBlocks; first++) {
      const number = `0x${first.toString(16)}`
      found += (await call(node.url, 'eth_getLogs', [{ address: emitter, fromBlock: number, toBlock: number }])).length
    }
    if (found !== logs) throw new Error(`${found} logs by eth_getLogs, ${logs} by the feed`)
    // The first round fills the caches.
    if (round === 0) continue
    fed.push(fedPerMs)
    searched.push(found / (performance.now() - searchedFrom))
    memory.push((peak - before) / 1024)
  }
  report({ name: 'a feed from genesis', value: median(fed) * 1000, unit: 'logs/s' })
  const ratio = median(fed.map((value, round) => value / searched[round]))
  const name = 'the feed, relative to eth_getLogs block by block'
  bar(report, name, ratio, 'x', `bar: ${most.share}`, ratio >= most.share)
  const growthMb = Math.max(...memory)
  bar(
    report,
    'memory of the node during the feed',
    growthMb,
    'MB more',
    `bar: ${most.growthMb}`,
    growthMb < most.growthMb,
  )
}

/** A client from genesis whose filter matches nothing. */
async function sparse(report, url, head) {
  const began = performance.now()
  const reader = await FeedClient.open(url, `what=logs&address=0x${'5a'.repeat(20)}&from=earliest`)
  await reader.until(0, head.hash)
  const ms = performance.now() - began
  reader.close()
  report({ name: 'a feed from genesis without matching logs', value: Number(head.number) / ms, unit: 'blocks/ms' })
}
