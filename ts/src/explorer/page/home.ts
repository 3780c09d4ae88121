import { element } from '../../admin/page/element.ts'
import { count, shortHash } from '../../admin/page/format.ts'
import type { Block, Transaction } from './chain.ts'
import { addressLink, age, blockLink, coins, note, rows, section, transactionLink, whole } from './show.ts'
import type { Page } from './view.ts'

const shownBlocks = 12
const shownTransactions = 15

/** Blocks by hash, so that a new head costs one request. */
let known = new Map<string, Block>()

/** Shows the latest blocks and transactions. */
export async function home({ node }: Page): Promise<readonly Node[]> {
  const blocks = await latestBlocks(node)
  const sent = blocks.flatMap((block) => block.transactions.map((transaction) => ({ block, transaction })).reverse())
  const lines = sent.filter(({ transaction }) => !isRemasc(transaction)).slice(0, shownTransactions)
  return [
    element(
      'div',
      { class: 'columns' },
      section(
        'Latest blocks',
        rows(
          ['Block', 'Age', 'Miner', '#Transactions', '#Gas'],
          blocks.map((block) => [
            blockLink(block.number),
            age(Number(block.timestamp)),
            addressLink(block.miner),
            count(block.transactions.filter((one) => !isRemasc(one)).length),
            whole(block.gasUsed),
          ]),
        ),
      ),
      section(
        'Latest transactions',
        lines.length === 0
          ? note(`The last ${blocks.length} blocks have no transactions.`)
          : rows(
              ['Hash', 'From', 'To', '#Value'],
              lines.map(({ transaction }) => [
                transactionLink(transaction.hash),
                addressLink(transaction.from),
                addressLink(transaction.to),
                coins(transaction.value),
              ]),
            ),
      ),
    ),
  ]
}

/** Returns whether a transaction is the last one of each block, which pays the miners. */
export function isRemasc({ from, to }: Transaction): boolean {
  return /^0x0{40}$/.test(from) && to === '0x0000000000000000000000000000000001000008'
}

/** Returns the latest blocks, highest first. */
async function latestBlocks(node: Page['node']): Promise<Block[]> {
  const read = (block: string) =>
    node.ask<Block | null>(block.length === 66 ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', block, true)
  const blocks: Block[] = []
  const head = await read('latest')
  if (head === null) return blocks
  const lowest = Math.max(0, Number(head.number) - shownBlocks + 1)
  // On a cold start all blocks are asked for at once.
  if (!known.has(head.parentHash)) {
    const numbers = Array.from({ length: Number(head.number) - lowest }, (_none, index) => lowest + index)
    const found = await Promise.all(numbers.map((number) => read(`0x${number.toString(16)}`)))
    for (const block of found) if (block !== null) known.set(block.hash, block)
  }
  for (let block: Block | null | undefined = head; block && Number(block.number) >= lowest; ) {
    blocks.push(block)
    block = Number(block.number) === lowest ? null : (known.get(block.parentHash) ?? (await read(block.parentHash)))
  }
  known = new Map(blocks.map((block) => [block.hash, block]))
  return blocks
}

/** Text of a block in the line of the head. */
export function headText(block: { readonly number: string; readonly hash: string }): string {
  return `block ${count(Number(block.number))} · ${shortHash(block.hash)}`
}
