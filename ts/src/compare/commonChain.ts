import type { Endpoint } from './endpoint.ts'

/** Place of a block in its chain. */
interface Linked {
  readonly number: string
  readonly hash: string
}

/** Blocks that two nodes have in common, with their receipts. */
export interface CommonBlocks {
  /** 0, or the first executed block of a node that began with a state from peers. */
  readonly first: number
  readonly last: number
}

/** Finds the blocks that are on the best chains of both nodes. Throws if they are of two networks. */
export async function commonBlocks(own: Endpoint, reference: Endpoint): Promise<CommonBlocks> {
  const nodes = [own, reference]
  const heights = await Promise.all(nodes.map((node) => node.result<string>('eth_blockNumber', [])))
  if (!(await isCommon(0))) throw new Error(`${own.url} and ${reference.url}: nodes of two networks`)
  // Branches are short, and a node may lack old blocks: the search begins at the top.
  let low = Math.min(...heights.map(Number))
  let high = low + 1
  for (let step = 1; !(await isCommon(low)); step *= 2) {
    high = low
    low = Math.max(0, low - step)
  }
  const last = (await boundary(low, high, isCommon)) - 1
  const isAbsent = async (number: number): Promise<boolean> => !(await isCommon(number))
  const stored = last === 0 || (await isCommon(1)) ? 0 : await boundary(1, last, isAbsent)
  const executed = await Promise.all(nodes.map(firstExecuted))
  return { first: Math.min(last, Math.max(stored, ...executed)), last }

  async function isCommon(number: number): Promise<boolean> {
    const params = [quantity(number), false]
    const [first, second] = await Promise.all(
      nodes.map((node) => node.result<Linked | null>('eth_getBlockByNumber', params)),
    )
    return first?.hash !== undefined && first.hash === second?.hash
  }
}

/** Returns the first number above `low` for which `holds` is false. It holds at `low` and does not at `high`. */
async function boundary(low: number, high: number, holds: (number: number) => Promise<boolean>): Promise<number> {
  let [below, above] = [low, high]
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2)
    if (await holds(middle)) below = middle
    else above = middle
  }
  return above
}

/** Returns the first block with receipts, which this node names in the error of a search below. */
async function firstExecuted(node: Endpoint): Promise<number> {
  const { error } = await node.ask('eth_getLogs', [{ fromBlock: quantity(1), toBlock: quantity(1) }])
  return Number(/first block with receipts is (\d+)$/.exec(error?.message ?? '')?.[1] ?? 0)
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
