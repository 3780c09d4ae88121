import { FeedModel } from '../changeFeed.ts'
import { ChangeStream } from '../changeStream.ts'
import type { BalancedClient } from './balancedClient.ts'
import type { FeedFollower } from './feedFollower.ts'
import type { FilterFollower } from './filterFollower.ts'
import type { FleetProcesses } from './fleetProcesses.ts'
import type { Incidents } from './incidents.ts'
import { type ChainLog, LogModel, nameOf } from './logModel.ts'

/** Time for the last messages of the stream of changes. */
const streamMs = 30_000

/** The best chain at the end. */
export class FinalChain {
  readonly blocks: readonly { readonly hash: string; readonly parentHash: string }[]
  /** Logs of one contract. */
  readonly logs: readonly ChainLog[]
  readonly contract: string
  readonly #client: BalancedClient
  readonly #key: string

  private constructor(
    client: BalancedClient,
    key: string,
    contract: string,
    found: Pick<FinalChain, 'blocks' | 'logs'>,
  ) {
    this.#client = client
    this.#key = key
    this.contract = contract
    this.blocks = found.blocks
    this.logs = found.logs
  }

  static async read(client: BalancedClient, key: string, contract: string): Promise<FinalChain> {
    const blocks: { hash: string; parentHash: string }[] = []
    const logs: ChainLog[] = []
    const last = Number(await client.result<string>('eth_blockNumber', [], key))
    for (let number = 0; number <= last; number++) {
      const tag = `0x${number.toString(16)}`
      blocks.push(await client.result('eth_getBlockByNumber', [tag, false], key))
      const criteria = { address: contract, fromBlock: tag, toBlock: tag }
      logs.push(...(await client.result<ChainLog[]>('eth_getLogs', [criteria], key)))
    }
    return new FinalChain(client, key, contract, { blocks, logs })
  }

  get head(): string {
    return this.blocks.at(-1)?.hash ?? ''
  }

  /** Returns the parent of a block of any branch. */
  async parentOf(hash: string): Promise<string | undefined> {
    const block = await this.#client.result<{ parentHash: string } | null>(
      'eth_getBlockByHash',
      [hash, false],
      this.#key,
    )
    return block?.parentHash
  }
}

/** Compares what a feed has with the chain. */
export function checkFeed(feed: FeedFollower, chain: FinalChain, incidents: Incidents): void {
  const { chain: model, logs, contents } = feed
  if (!feed.cursor.includes(chain.head)) incidents.fault(`a feed ends at ${feed.cursor}`)
  if (contents === 'logs') compare('logs of a feed', logs.names, chain.logs.map(nameOf), incidents)
  else {
    const own = model.blocks.map(({ hash }) => hash)
    compare(
      'blocks of a feed',
      own,
      chain.blocks.map(({ hash }) => hash),
      incidents,
    )
  }
}

/** Compares the logs of a filter with those of the chain, or checks the order of its blocks. */
export async function checkFilter(filter: FilterFollower, chain: FinalChain, incidents: Incidents): Promise<void> {
  if (filter.kind === 'log') {
    const wanted = chain.logs.filter(({ blockNumber }) => Number(blockNumber) >= filter.start)
    compare('logs of a filter', filter.logs.names, wanted.map(nameOf), incidents)
    return
  }
  const { hashes } = filter
  if (new Set(hashes).size < hashes.length) incidents.fault('a block filter has a block twice')
  const known = new Set<string | undefined>()
  for (const [index, hash] of hashes.entries()) {
    const parent = await chain.parentOf(hash)
    // After a reorganization the first block follows the common ancestor, which may be older than the filter.
    const isBranch = chain.blocks.some((block) => block.hash === parent)
    if (index > 0 && !known.has(parent) && !isBranch) incidents.fault(`block ${hash} of a filter does not follow`)
    known.add(hash)
  }
  const all = chain.blocks.map((block) => block.hash)
  const wanted = all.slice(all.findIndex((hash) => known.has(hash)))
  const own = hashes.filter((hash) => wanted.includes(hash))
  compare('blocks of a filter', own, wanted, incidents)
}

/** Checks the stream of changes, whose first message is its begin. */
export async function checkChanges(fleet: FleetProcesses, chain: FinalChain, incidents: Incidents): Promise<void> {
  const stream = await ChangeStream.open(fleet.nats.url, chain.blocks[0]?.hash ?? '')
  const isThere = stream.until((all) => all.at(-1)?.event.cursor.includes(chain.head) === true)
  await Promise.race([isThere, new Promise((resolve) => setTimeout(resolve, streamMs))])
  const [begin, ...messages] = stream.messages
  const [model, logs] = [new FeedModel(), new LogModel()]
  let previous = begin?.event.cursor
  try {
    for (const { event, previous: named } of messages) {
      if (named !== previous) throw new Error(`${named} instead of ${previous}`)
      model.apply(event)
      // The stream has the logs of all contracts.
      logs.apply(((event.logs ?? []) as ChainLog[]).filter(({ address }) => address === chain.contract))
      previous = event.cursor
    }
  } catch (error) {
    incidents.fault(`stream of changes at ${previous}: ${error instanceof Error ? error.message : error}`)
  }
  const start = Number(begin?.event.cursor.split('-')[0]) + 1
  const wanted = chain.blocks.slice(start).map(({ hash }) => hash)
  compare(
    'blocks of the stream of changes',
    model.blocks.map(({ hash }) => hash),
    wanted,
    incidents,
  )
  const later = chain.logs.filter(({ blockNumber }) => Number(blockNumber) >= start)
  compare('logs of the stream of changes', logs.names, later.map(nameOf), incidents)
  incidents.tell(`${stream.messages.length} messages in the stream of changes`)
  await stream.close()
}

function compare(what: string, own: readonly string[], wanted: readonly string[], incidents: Incidents): void {
  const index = wanted.findIndex((value, at) => own[at] !== value)
  if (index >= 0) incidents.fault(`${what}: number ${index} is ${own[index]}, expected ${wanted[index]}`)
  else if (own.length > wanted.length) incidents.fault(`${what}: ${own.length - wanted.length} too many`)
}
