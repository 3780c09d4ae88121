import { element } from '../../admin/page/element.ts'
import { count, shortHash } from '../../admin/page/format.ts'
import { type AbiValue, decodeAbi } from './abi.ts'
import { statusPill } from './blockPage.ts'
import type { BlockOf, FoundTransactions } from './chain.ts'
import { functionName } from './decoded.ts'
import {
  addressLink,
  age,
  blockLink,
  code,
  coins,
  longCode,
  members,
  note,
  rows,
  section,
  strange,
  transactionLink,
  whole,
} from './show.ts'
import { orReason, type Page } from './view.ts'

const pageSize = 25
const shownSlots = 50
/** Selectors of name(), symbol() and decimals(). */
const tokenCalls = [
  ['0x06fdde03', 'string'],
  ['0x95d89b41', 'string'],
  ['0x313ce567', 'uint8'],
] as const

interface Storage {
  readonly storage: Readonly<Record<string, { readonly key: string; readonly value: string }>>
  readonly nextKey: string | null
}

/** Shows an account: `address/ADDRESS/before|after/NUMBER`. */
export async function addressPage(
  page: Page,
  [address = '', direction, from]: readonly string[],
): Promise<readonly Node[]> {
  const { node } = page
  const [balance, nonce, data] = await Promise.all([
    node.ask<string>('eth_getBalance', address, 'latest'),
    node.ask<string>('eth_getTransactionCount', address, 'latest'),
    node.ask<string>('eth_getCode', address, 'latest'),
  ])
  const isContract = data !== '0x'
  const [token, creator, storage, found] = await Promise.all([
    isContract ? tokenOf(page, address) : undefined,
    isContract ? creatorOf(page, address) : undefined,
    isContract ? storageOf(page, address) : undefined,
    transactionsOf(page, address, direction, from),
  ])
  return [
    section(
      `${isContract ? 'Contract' : 'Account'} ${shortHash(address)}`,
      members([
        ['Address', code(address)],
        ['Balance', coins(balance)],
        ['Nonce', whole(nonce)],
        ...(token ?? []),
        ...(creator ?? []),
      ]),
    ),
    section('Transactions', ...transactionPart(address, found)),
    ...(isContract ? [section('Storage', ...storagePart(storage))] : []),
    ...(isContract ? [section(`Code (${count((data.length - 2) / 2)} bytes)`, longCode(data))] : []),
  ]
}

/** Returns name, symbol and decimals of a token contract. */
async function tokenOf({ node }: Page, address: string): Promise<(readonly [string, Node | string])[]> {
  const [name, symbol, decimals] = await Promise.all(
    tokenCalls.map(async ([selector, type]): Promise<AbiValue | undefined> => {
      const answer = await orReason(node.ask<string>('eth_call', { to: address, data: selector }, 'latest'))
      return decodeAbi([type], answer)?.[0]
    }),
  )
  const title = [name, symbol].filter((one) => typeof one === 'string' && one !== '').join(' · ')
  return [
    ...(title === '' ? [] : [['Token', strange(title)] as const]),
    ...(decimals === undefined ? [] : [['Decimals', String(decimals)] as const]),
  ]
}

async function creatorOf({ node, modules }: Page, address: string): Promise<(readonly [string, Node])[]> {
  if (!(await modules).has('ots')) return []
  const found = await orReason(node.ask<{ hash: string; creator: string } | null>('ots_getContractCreator', address))
  if (found === null || typeof found === 'string') return []
  return [['Created by', element('span', {}, addressLink(found.creator, true), ' in ', transactionLink(found.hash))]]
}

async function storageOf({ node, modules }: Page, address: string): Promise<Storage | string> {
  if (!(await modules).has('debug'))
    return 'This node does not serve debug_storageRangeAt ([modules.debug] enabled = true).'
  const head = await node.ask<BlockOf<string>>('eth_getBlockByNumber', 'latest', false)
  if (head.number === '0x0') return 'Block 0 has no transactions to read the storage after.'
  return orReason(
    node.ask<Storage>('debug_storageRangeAt', head.hash, head.transactions.length, address, '0x0', shownSlots),
  )
}

function storagePart(storage: Storage | string | undefined): readonly Node[] {
  if (storage === undefined) return []
  if (typeof storage === 'string') return [note(storage)]
  const slots = Object.values(storage.storage)
  if (slots.length === 0) return [note('No storage slot has a value.')]
  return [
    rows(
      ['Slot', 'Value'],
      slots.map(({ key, value }) => [code(key), code(value)]),
    ),
    ...(storage.nextKey === null ? [] : [note(`Only ${shownSlots} slots are shown.`)]),
  ]
}

async function transactionsOf(
  { node, modules }: Page,
  address: string,
  direction: string | undefined,
  from = '0',
): Promise<FoundTransactions | string> {
  if (!(await modules).has('ots')) return 'This node does not serve ots_* ([modules.ots] enabled = true).'
  const method = direction === 'after' ? 'ots_searchTransactionsAfter' : 'ots_searchTransactionsBefore'
  return orReason(node.ask<FoundTransactions>(method, address, Number(from), pageSize))
}

function transactionPart(address: string, found: FoundTransactions | string): readonly Node[] {
  if (typeof found === 'string') return [note(`The transactions of this address cannot be listed: ${found}.`)]
  if (found.txs.length === 0) return [note('No transactions.')]
  const lines = found.txs.map((one, index) => {
    const receipt = found.receipts[index]
    return [
      transactionLink(one.hash),
      one.blockNumber === null ? '' : blockLink(one.blockNumber),
      receipt === undefined ? '' : age(receipt.timestamp),
      addressLink(one.from),
      addressLink(one.to ?? receipt?.contractAddress),
      functionName(one.input),
      coins(one.value),
      statusPill(receipt),
    ]
  })
  const [highest, lowest] = [found.txs[0]?.blockNumber, found.txs.at(-1)?.blockNumber]
  const links = [
    ...(found.firstPage ? [] : [element('a', { href: `#/address/${address}/after/${Number(highest)}` }, 'Newer')]),
    ...(found.lastPage ? [] : [element('a', { href: `#/address/${address}/before/${Number(lowest)}` }, 'Older')]),
  ]
  return [
    rows(['Hash', 'Block', 'Age', 'From', 'To', 'Call', '#Value', ''], lines),
    element('p', {}, ...links.flatMap((link) => [link, ' '])),
  ]
}
