import type { Endpoint } from './endpoint.ts'

/** Place of a block in its chain. */
interface Linked {
  readonly number: string
  readonly hash: string
}

/** Returns the number of the highest block that is on the best chains of both nodes. Throws if they are of two networks. */
export async function lastCommonBlock(own: Endpoint, reference: Endpoint): Promise<number> {
  const heights = await Promise.all([own, reference].map((node) => node.result<string>('eth_blockNumber', [])))
  let [low, high] = [0, Math.min(...heights.map(Number))]
  if (!(await isCommon(0))) throw new Error(`${own.url} and ${reference.url}: nodes of two networks`)
  // A chain that has a block has all of its ancestors.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await isCommon(middle)) low = middle
    else high = middle - 1
  }
  return low

  async function isCommon(number: number): Promise<boolean> {
    const params = [`0x${number.toString(16)}`, false]
    const [first, second] = await Promise.all(
      [own, reference].map((node) => node.result<Linked | null>('eth_getBlockByNumber', params)),
    )
    return first?.hash !== undefined && first.hash === second?.hash
  }
}
