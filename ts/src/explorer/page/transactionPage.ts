import { element } from '../../admin/page/element.ts'
import { shortHash } from '../../admin/page/format.ts'
import { statusPill } from './blockPage.ts'
import { callTree } from './callTree.ts'
import type { AccountState, BlockOf, Call, Receipt, Transaction } from './chain.ts'
import { inputOf, logOf, reasonOf } from './decoded.ts'
import { addressLink, age, blockLink, code, coins, members, note, rows, section, strange, whole } from './show.ts'
import { orReason, type Page } from './view.ts'

/** Changes of the state that are shown. */
const maxChanges = 200

interface Changes {
  readonly pre: Readonly<Record<string, AccountState>>
  readonly post: Readonly<Record<string, AccountState>>
}

/** Shows a transaction: `tx/HASH`. */
export async function transactionPage(
  { node, modules }: Page,
  [hash = '']: readonly string[],
): Promise<readonly Node[]> {
  const [transaction, receipt] = await Promise.all([
    node.ask<Transaction | null>('eth_getTransactionByHash', hash),
    node.ask<Receipt | null>('eth_getTransactionReceipt', hash),
  ])
  if (transaction === null) return [note(`There is no transaction ${hash}.`)]
  const block = transaction.blockHash
    ? await node.ask<BlockOf<string> | null>('eth_getBlockByHash', transaction.blockHash, false)
    : null
  const trace = <T>(tracer: string, tracerConfig: object) =>
    orReason(node.ask<T>('debug_traceTransaction', hash, { tracer, tracerConfig }))
  const canTrace = receipt !== null && (await modules).has('debug')
  const [calls, changes] = canTrace
    ? await Promise.all([trace<Call>('callTracer', {}), trace<Changes>('prestateTracer', { diffMode: true })])
    : [undefined, undefined]
  const reason = typeof calls === 'object' ? reasonOf(calls) : undefined
  return [
    section(
      `Transaction ${shortHash(transaction.hash)}`,
      members([
        ['Hash', code(transaction.hash)],
        ['Status', statusPill(receipt ?? undefined)],
        ...(reason === undefined ? [] : [['Reason', strange(reason)] as const]),
        ['Block', transaction.blockNumber === null ? 'not mined yet' : blockLink(transaction.blockNumber)],
        ...(block === null ? [] : [['Time', age(Number(block.timestamp))] as const]),
        ['From', addressLink(transaction.from, true)],
        [transaction.to === null ? 'Created' : 'To', addressLink(transaction.to ?? receipt?.contractAddress, true)],
        ['Value', coins(transaction.value)],
        ['Gas', `${receipt === null ? '–' : whole(receipt.gasUsed)} of ${whole(transaction.gas)}`],
        ['Gas price', `${whole(transaction.gasPrice)} wei`],
        ['Fee', receipt === null ? '–' : coins(BigInt(receipt.gasUsed) * BigInt(transaction.gasPrice))],
        ['Nonce', whole(transaction.nonce)],
      ]),
    ),
    section('Input', element('div', { class: 'entry' }, inputOf(transaction.input))),
    ...(receipt === null ? [] : [section(`Logs (${receipt.logs.length})`, ...receipt.logs.map(logOf))]),
    ...(receipt === null ? [] : [section('Calls', ...callPart(calls))]),
    ...(receipt === null ? [] : [section('Changes of the state', ...changePart(changes))]),
  ]
}

const needsModule = 'This node does not serve debug_traceTransaction ([modules.debug] enabled = true).'

function callPart(calls: Call | string | undefined): readonly Node[] {
  if (calls === undefined || calls === null) return [note(needsModule)]
  return [typeof calls === 'string' ? note(calls) : element('div', { class: 'entry' }, callTree(calls))]
}

function changePart(changes: Changes | string | undefined): readonly Node[] {
  if (changes === undefined || changes === null) return [note(needsModule)]
  if (typeof changes === 'string') return [note(changes)]
  const lines = changeLines(changes)
  const shown = lines.slice(0, maxChanges)
  return [
    rows(['Account', 'What', 'Before', 'After'], shown),
    ...(lines.length > shown.length ? [note(`${lines.length - shown.length} further changes are not shown.`)] : []),
  ]
}

function changeLines({ pre, post }: Changes): (readonly (Node | string)[])[] {
  return [...new Set([...Object.keys(pre), ...Object.keys(post)])].flatMap((address) => {
    const [before, after] = [pre[address] ?? {}, post[address] ?? {}]
    const line = (what: Node | string, one: string | undefined, two: string | undefined) =>
      one === two ? [] : [[addressLink(address), what, one ?? '–', two ?? '–'] as const]
    // After the transaction only changed members are listed.
    const isGone = post[address] === undefined
    const changed = (name: 'balance' | 'nonce' | 'code') => isGone || after[name] !== undefined
    const slots = [...new Set([...Object.keys(before.storage ?? {}), ...Object.keys(after.storage ?? {})])]
    return [
      ...(changed('balance')
        ? line('balance', before.balance && coins(before.balance), after.balance && coins(after.balance))
        : []),
      ...(changed('nonce') ? line('nonce', text(before.nonce), text(after.nonce)) : []),
      ...(changed('code') ? line('code', codeText(before.code), codeText(after.code)) : []),
      ...slots.flatMap((slot) => line(code(slot), before.storage?.[slot], after.storage?.[slot])),
    ]
  })
}

function text(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number)
}

function codeText(data: string | undefined): string | undefined {
  return data === undefined ? undefined : `${(data.length - 2) / 2} bytes`
}
