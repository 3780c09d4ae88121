import { count } from '../../admin/page/format.ts'
import type { Transaction } from './chain.ts'
import { addressLink, coins, note, rows, section, strange, transactionLink, whole } from './show.ts'
import { orReason, type Page } from './view.ts'

/** Transactions that are shown of each part of the pool. */
const shown = 100

/** Sender -> nonce -> transactions, with the reason why each waits. */
type Accounts = Readonly<
  Record<string, Readonly<Record<string, readonly (Transaction & { readonly reason?: string })[]>>>
>

/** Shows the transactions that wait for a block. */
export async function poolPage({ node }: Page): Promise<readonly Node[]> {
  const pool = await orReason(node.ask<{ pending: Accounts; queued: Accounts }>('txpool_content'))
  if (typeof pool === 'string') return [note(pool)]
  return [
    part('Pending', 'No transaction can be in the next block.', pool.pending),
    part('Queued', 'No transaction waits for an earlier nonce.', pool.queued),
  ]
}

function part(title: string, none: string, accounts: Accounts): HTMLElement {
  const waiting = Object.values(accounts).flatMap((byNonce) => Object.values(byNonce).flat())
  if (waiting.length === 0) return section(title, note(none))
  const lines = waiting.slice(0, shown).map((one) => [
    transactionLink(one.hash),
    addressLink(one.from),
    whole(one.nonce),
    // A creation has no recipient.
    addressLink(one.to?.length === 42 ? one.to : null),
    coins(one.value),
    `${whole(one.gasPrice)} wei`,
    strange(one.reason ?? ''),
  ])
  return section(
    `${title} (${count(waiting.length)})`,
    rows(['Hash', 'From', '#Nonce', 'To', '#Value', '#Gas price', 'Waits because'], lines),
    ...(waiting.length > shown ? [note(`Only ${shown} are shown.`)] : []),
  )
}
