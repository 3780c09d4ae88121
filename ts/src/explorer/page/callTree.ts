import { element } from '../../admin/page/element.ts'
import type { Call } from './chain.ts'
import { functionName, reasonOf } from './decoded.ts'
import { addressLink, coins, strange, whole } from './show.ts'

/** Calls that are shown. */
const maxCalls = 500

/** Shows the calls of a transaction with their gas. */
export function callTree(root: Call): HTMLElement {
  const budget = { left: maxCalls }
  return element('ul', { class: 'calls' }, node(root, budget))
}

function node(call: Call, budget: { left: number }): HTMLElement {
  budget.left--
  const name = functionName(call.input)
  const value = call.value !== undefined && BigInt(call.value) > 0n ? ` ${coins(call.value)}` : ''
  const failure = reasonOf(call)
  const line = element(
    'span',
    {},
    element('span', { class: 'muted' }, `${call.type} `),
    addressLink(call.to),
    name === '' ? '' : ` ${name}`,
    value,
    element('span', { class: 'muted' }, ` gas ${whole(call.gasUsed)}`),
    ...(failure === undefined ? [] : [element('span', { class: 'bad' }, ' failed: ', strange(failure))]),
  )
  const children: HTMLElement[] = []
  for (const child of call.calls ?? []) {
    if (budget.left <= 0) {
      children.push(element('li', { class: 'muted' }, 'Further calls are not shown.'))
      break
    }
    children.push(node(child, budget))
  }
  return element('li', {}, line, ...(children.length === 0 ? [] : [element('ul', {}, ...children)]))
}
