import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect } from 'vitest'
import { Random } from '../../src/compare/random.ts'
import { counter } from '../contract.ts'
import { BalancedClient } from '../fleetFaults/balancedClient.ts'
import { Callers } from '../fleetFaults/callers.ts'
import { type Contents, FeedFollower } from '../fleetFaults/feedFollower.ts'
import { FilterFollower } from '../fleetFaults/filterFollower.ts'
import { checkChanges, checkFeed, checkFilter, FinalChain } from '../fleetFaults/finalChain.ts'
import { accountCount, FleetProcesses } from '../fleetFaults/fleetProcesses.ts'
import { hasHaproxy } from '../fleetFaults/haproxyProcess.ts'
import { HeadTimes } from '../fleetFaults/headTimes.ts'
import { Incidents } from '../fleetFaults/incidents.ts'
import { headOf, Reorganizer } from '../fleetFaults/reorganizer.ts'
import { Senders, walletOf } from '../fleetFaults/senders.ts'
import { hasNats } from '../natsServer.ts'
import { hasRedis } from '../redis.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// A fleet with the settings of docs/deploy/fleet under load, with reorganizations, in which each process is killed once: no event
// of a feed or filter is lost, doubled or out of order; no answer is older than its request allows; no request fails except those
// in flight at a killed process; no accepted transaction is lost. A seed repeats order and depths, not the timing.

/** Pace of a run that has the time for it, and of a short one. */
const full = { downMs: 30_000, upMs: 15_000, reorganizeMs: 60_000, requestsPerSecond: 1000, feeds: 50 }
const short = { downMs: 4000, upMs: 5000, reorganizeMs: 15_000, requestsPerSecond: 200, feeds: 20 }
/** Time for a round at the full pace. */
const fullMs = 360_000
const transactionsPerSecond = 50
const filters = 6
const mostDepth = 8
/** Time before the first kill and after the last start. */
const quietMs = 5000
/** Time in which all clients reach the head at the end. */
const catchUpMs = 30_000

export const torture: TortureCase = {
  obstacle: () => {
    const absent = [
      ...(hasNats ? [] : ['nats-server']),
      ...(hasRedis ? [] : ['redis-server']),
      ...(hasHaproxy ? [] : ['haproxy']),
    ]
    return absent.length === 0 ? undefined : `not run: ${absent.join(' and ')}: not installed`
  },
  prepare: () => ({ round }),
}

async function round({ random, folder, timeMs }: Round): Promise<void> {
  const pace = timeMs >= fullMs ? full : short
  const fleet = await FleetProcesses.start(folder)
  const incidents = new Incidents()
  try {
    await run(fleet, incidents, random, pace)
    expect(incidents.faults).toEqual([])
  } finally {
    await fleet.stop()
  }
}

async function run(fleet: FleetProcesses, incidents: Incidents, random: Random, pace: typeof full): Promise<void> {
  const { keys } = fleet
  const [key = ''] = keys
  // Not drawn in between: the number of requests depends on the speed of the machine.
  const order = random.shuffled([...fleet.parts])
  const depths = new Random(random.next())
  const requests = new Random(random.next())
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const client = new BalancedClient(fleet.url)
  const contract = await createContract(client, key)
  const heads = new HeadTimes(fleet.replicas, key)
  const callers = new Callers(client, heads, incidents, requests, { keys, contract, account: walletOf(0).address })
  const senders = new Senders(client, { keys, contract, accounts: accountCount })
  const feeds = Array.from({ length: pace.feeds }, (_none, index) => {
    const contents: Contents = index % 5 === 0 ? 'logs' : index % 5 === 1 ? 'blocks,transactions' : 'blocks'
    const onEvent = index === 1 ? (event: Parameters<Senders['follow']>[0]) => senders.follow(event) : undefined
    return new FeedFollower(fleet.url, incidents, {
      ...{ contents, contract, key: keys[index % keys.length] as string },
      ...(onEvent !== undefined && { onEvent }),
    })
  })
  const polling = Array.from(
    { length: filters },
    (_none, index) =>
      new FilterFollower(client, incidents, {
        kind: index % 2 === 0 ? 'log' : 'block',
        contract,
        key: keys[index % keys.length] as string,
      }),
  )
  const reorganizer = new Reorganizer(fleet, incidents)
  await reorganizer.start()
  senders.start(transactionsPerSecond)
  callers.start(pace.requestsPerSecond)

  let isOver = false
  const reorganizing = (async () => {
    while (!isOver) {
      const [began, depth] = [performance.now(), 1 + depths.below(mostDepth)]
      await reorganizer.run(depth)
      while (!isOver && performance.now() - began < pace.reorganizeMs) await pause(100)
    }
  })().catch((error: Error) => incidents.fault(`no more reorganizations: ${error.message}`))
  await pause(quietMs)
  for (const [name, part] of order) {
    const killed = performance.now()
    const start = await incidents.kill(name, part)
    senders.killed(killed)
    await pause(pace.downMs)
    await start()
    await pause(pace.upMs)
    incidents.tell(`${senders.mined} transactions in blocks, ${senders.waiting} waiting`)
  }
  isOver = true
  await reorganizing
  await pause(quietMs)

  senders.pause()
  await callers.end()
  await settle(fleet, senders, key)
  await senders.end()
  await Promise.all(polling.map((one) => one.end()))
  const chain = await FinalChain.read(client, key, contract)
  const isThere = () => feeds.every(({ cursor }) => cursor.includes(chain.head))
  for (const began = performance.now(); !isThere() && performance.now() - began < catchUpMs; ) await pause(100)
  await Promise.all(feeds.map((feed) => feed.end()))
  heads.end()
  delay.disable()

  for (const hash of senders.missing) incidents.fault(`the accepted transaction ${hash} is in no block`)
  for (const feed of feeds) checkFeed(feed, chain, incidents)
  for (const filter of polling) await checkFilter(filter, chain, incidents)
  await checkChanges(fleet, chain, incidents)
  client.close()

  const { counts, durations } = callers
  durations.sort((a, b) => a - b)
  const within = (share: number) => `${Math.round(durations[Math.ceil(durations.length * share) - 1] ?? 0)} ms`
  for (const text of incidents.staleAnswers) incidents.tell(text)
  incidents.tell(
    `${counts.answered} answers, ${counts.strict} of them with If-Head-At-Least; half within ${within(0.5)}, 99 of 100 within ` +
      `${within(0.99)}, all within ${within(1)}; ${counts.stale} lack the head of 250 ms before`,
  )
  incidents.tell(
    `${counts.inFlight} requests in flight at killed processes, ${counts.lost} lost, ${counts.late} refused for a head, ` +
      `${counts.held} not sent`,
  )
  incidents.tell(
    `${senders.mined} transactions in ${chain.blocks.length} blocks, ${senders.missing.length} missing; ` +
      `${senders.repeated} sent again; refused: ${JSON.stringify(Object.fromEntries(senders.refusals))}`,
  )
  incidents.tell(`reorganizations of depth ${reorganizer.depths.join(', ')}`)
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
  incidents.tell(
    `${sum(feeds.map(({ events }) => events))} events of ${feeds.length} feeds, ${sum(feeds.map(({ resumed }) => resumed))} times ` +
      `continued; ${sum(polling.map(({ polls }) => polls))} polls of ${filters} filters, ` +
      `${sum(polling.map(({ installed }) => installed)) - filters} installed again`,
  )
  incidents.tell(`longest delay of this process ${Math.round(delay.max / 1e6)} ms; ${incidents.faults.length} faults`)
  if (counts.strict === 0 || reorganizer.depths.length === 0) incidents.fault('there was no load or no reorganization')
}

async function createContract(client: BalancedClient, key: string): Promise<string> {
  const data = counter.bytecode + '0'.repeat(64)
  const creation = { data, nonce: 0, gasLimit: 0x100000, gasPrice: 1, chainId: 33, type: 0 }
  const raw = await walletOf(0).signTransaction(creation)
  const hash = await client.result<string>('eth_sendRawTransaction', [raw], key)
  for (;;) {
    const receipt = await client.result<{ contractAddress: string } | null>('eth_getTransactionReceipt', [hash], key)
    if (receipt !== null) return receipt.contractAddress
    await pause(100)
  }
}

/** Waits until all transactions are in blocks, then until all nodes have the same last head. */
async function settle(fleet: FleetProcesses, senders: Senders, key: string): Promise<void> {
  for (const began = performance.now(); senders.missing.length > 0 && performance.now() - began < catchUpMs; )
    await pause(200)
  await fleet.importer.process.result('evm_setIntervalMining', [0])
  const began = performance.now()
  for (;;) {
    const heads = await Promise.all([headOf(fleet.importer), ...fleet.replicas.map((replica) => headOf(replica, key))])
    if (heads.every(({ hash }) => hash === heads[0]?.hash)) return
    if (performance.now() - began > catchUpMs) throw new Error(`the nodes differ: ${JSON.stringify(heads)}`)
    await pause(100)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
