import type { Endpoint } from './endpoint.ts'

/** Place of a block in its chain. */
interface Linked {
  readonly number: string
  readonly hash: string
}

/** Code of an error: the node cannot answer the question, here because it has no receipts of the block. */
const notAnswerable = -32000

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
  if (last === 0) return { first: 0, last }
  const isAbsent = async (number: number): Promise<boolean> => !(await isCommon(number))
  const stored = (await isCommon(1)) ? 0 : await boundary(1, last, isAbsent)
  const executed = await Promise.all(nodes.map((node) => firstExecuted(node, stored, last)))
  return { first: Math.max(...executed), last }

  async function isCommon(number: number): Promise<boolean> {
    const params = [quantity(number), false]
    const [first, second] = await Promise.all(
      nodes.map((node) => node.result<Linked | null>('eth_getBlockByNumber', params)),
    )
    return first?.hash !== undefined && first.hash === second?.hash
  }
}

/** Returns the first number above `low` for which `holds` is false, or `high` if there is none below. It holds at `low`. */
async function boundary(low: number, high: number, holds: (number: number) => Promise<boolean>): Promise<number> {
  let [below, above] = [low, high]
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2)
    if (await holds(middle)) below = middle
    else above = middle
  }
  return above
}

/** Returns the first block with receipts from `stored` on; `last` if only later ones have them. */
async function firstExecuted(node: Endpoint, stored: number, last: number): Promise<number> {
  // A search of genesis alone is never refused.
  const lowest = Math.max(1, stored)
  return (await lacksReceipts(lowest)) ? await boundary(lowest, last, lacksReceipts) : stored

  async function lacksReceipts(number: number): Promise<boolean> {
    const block = quantity(number)
    const { error } = await node.ask('eth_getLogs', [{ fromBlock: block, toBlock: block }])
    return error?.code === notAnswerable
  }
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
