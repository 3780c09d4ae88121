import { element } from '../../admin/page/element.ts'
import { bytes, count } from '../../admin/page/format.ts'
import type { Block, BlockOf, Receipt } from './chain.ts'
import {
  addressLink,
  age,
  blockHashLink,
  code,
  coins,
  longCode,
  members,
  note,
  pill,
  rows,
  section,
  transactionLink,
  whole,
} from './show.ts'
import type { Page } from './view.ts'

/** Transactions of a page. */
const pageSize = 50

/** Shows a block by number or hash: `block/ID/PAGE`. */
export async function blockPage({ node }: Page, [id = '', page = '0']: readonly string[]): Promise<readonly Node[]> {
  const block = await readBlock(node, id)
  if (block === null) return [note(`There is no block ${id}.`)]
  const main = await node.ask<BlockOf<string> | null>('eth_getBlockByNumber', block.number, false)
  const number = Number(block.number)
  const receipts = await node.ask<Receipt[] | null>('eth_getBlockReceipts', { blockHash: block.hash })
  const status = new Map((receipts ?? []).map((receipt) => [receipt.transactionHash, receipt]))
  const first = Math.max(0, Number(page) || 0) * pageSize
  const listed = block.transactions.slice(first, first + pageSize)
  return [
    section(
      `Block ${count(number)}`,
      ...(main?.hash === block.hash
        ? []
        : [note('This block is not on the best chain: an uncle, or replaced by another branch.')]),
      members([
        ['Hash', code(block.hash)],
        ['Parent', number === 0 ? 'none' : blockHashLink(block.parentHash)],
        ['Time', age(Number(block.timestamp))],
        ['Miner', addressLink(block.miner, true)],
        ['Gas', `${whole(block.gasUsed)} of ${whole(block.gasLimit)}`],
        ['Fees', coins(block.paidFees ?? '0x0')],
        ['Minimum gas price', `${whole(block.minimumGasPrice ?? '0x0')} wei`],
        ['Difficulty', `${whole(block.difficulty)}, total ${whole(block.totalDifficulty)}`],
        ['Size', bytes(Number(block.size))],
        ['State root', code(block.stateRoot)],
        ['Extra data', longCode(block.extraData)],
        ['Next to it', neighbours(number)],
      ]),
    ),
    ...(block.uncles.length === 0
      ? []
      : [
          section(
            'Uncles',
            rows(
              ['Hash'],
              block.uncles.map((_hash, index) => [uncleLink(block.hash, index, _hash)]),
            ),
          ),
        ]),
    section(
      `Transactions (${count(block.transactions.length)})`,
      rows(
        ['#', 'Hash', 'From', 'To', '#Value', '#Gas', ''],
        listed.map((one) => [
          String(Number(one.transactionIndex)),
          transactionLink(one.hash),
          addressLink(one.from),
          addressLink(one.to),
          coins(one.value),
          whole(status.get(one.hash)?.gasUsed ?? '0x0'),
          statusPill(status.get(one.hash)),
        ]),
      ),
      ...pageLinks(`#/block/${id}`, Number(page) || 0, block.transactions.length),
    ),
  ]
}

/** Shows an uncle by the hash of its block and its index: `uncle/HASH/INDEX`. */
export async function unclePage({ node }: Page, [hash = '', index = '0']: readonly string[]): Promise<readonly Node[]> {
  const uncle = await node.ask<BlockOf<string> | null>(
    'eth_getUncleByBlockHashAndIndex',
    hash,
    `0x${Number(index).toString(16)}`,
  )
  if (uncle === null) return [note('There is no such uncle.')]
  return [
    section(
      `Uncle ${count(Number(uncle.number))}`,
      members([
        ['Hash', code(uncle.hash)],
        ['Referenced by', blockHashLink(hash)],
        ['Parent', blockHashLink(uncle.parentHash)],
        ['Time', age(Number(uncle.timestamp))],
        ['Miner', addressLink(uncle.miner, true)],
        ['Difficulty', whole(uncle.difficulty)],
        ['Gas', `${whole(uncle.gasUsed)} of ${whole(uncle.gasLimit)}`],
      ]),
    ),
  ]
}

export function readBlock(node: Page['node'], id: string): Promise<Block | null> {
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return node.ask('eth_getBlockByHash', id, true)
  return node.ask('eth_getBlockByNumber', `0x${Number(id).toString(16)}`, true)
}

export function statusPill(receipt: Receipt | undefined): HTMLElement {
  if (receipt === undefined) return pill('waiting', 'plain')
  return receipt.status === '0x1' ? pill('ok', 'good') : pill('failed', 'bad')
}

function uncleLink(block: string, index: number, hash: string): HTMLElement {
  return element('a', { href: `#/uncle/${block}/${index}`, class: 'code' }, hash)
}

function neighbours(number: number): HTMLElement {
  const links = [number - 1, number + 1].filter((one) => one >= 0)
  return element('span', {}, ...links.flatMap((one) => [element('a', { href: `#/block/${one}` }, count(one)), ' ']))
}

/** Creates the links to the pages before and after. */
function pageLinks(address: string, page: number, total: number): readonly Node[] {
  const links = [
    ...(page > 0 ? [element('a', { href: `${address}/${page - 1}` }, 'Previous')] : []),
    ...((page + 1) * pageSize < total ? [element('a', { href: `${address}/${page + 1}` }, 'Next')] : []),
  ]
  return links.length === 0 ? [] : [element('p', {}, ...links.flatMap((link) => [link, ' ']))]
}
