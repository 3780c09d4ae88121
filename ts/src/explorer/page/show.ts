import { element, foreign } from '../../admin/page/element.ts'
import { count, shortHash, span } from '../../admin/page/format.ts'
import { heading, table } from '../../admin/page/layout.ts'

// Parts that several views show. Texts become text nodes only.

const weiPerCoin = 10n ** 18n
/** Wei from which an amount is shown as coins. */
const smallest = 10n ** 9n
/** Characters of a text of a contract that are shown. */
const maxText = 200

/** Creates a section with a title. */
export function section(title: string, ...children: readonly Node[]): HTMLElement {
  return element('section', {}, heading(title, ''), ...children)
}

/** Creates a table of rows, each a list of texts and elements. Column names that start with `#` are numbers. */
export function rows(columns: readonly string[], lines: readonly (readonly (Node | string)[])[]): HTMLElement {
  const cells = (line: readonly (Node | string)[]) =>
    line.map((cell, index) => element('td', columns[index]?.startsWith('#') ? { class: 'number' } : {}, cell))
  const body = element('tbody', {}, ...lines.map((line) => element('tr', {}, ...cells(line))))
  return element('div', { class: 'wide' }, table(columns, body))
}

/** Creates a list of names with values. */
export function members(pairs: readonly (readonly [name: string, value: Node | string])[]): HTMLElement {
  const parts = pairs.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])
  return element('dl', { class: 'members' }, ...parts)
}

export function note(text: string): HTMLElement {
  return element('p', { class: 'notice' }, text)
}

export function code(text: string): HTMLElement {
  return element('span', { class: 'code' }, text)
}

/** Creates a scrolling box for long data. */
export function longCode(text: string): HTMLElement {
  return element('pre', { class: 'code', tabindex: '0' }, text)
}

/** Shows a text of a contract. */
export function strange(text: string): HTMLElement {
  return foreign(text.length > maxText ? `${text.slice(0, maxText)}…` : text)
}

export function blockLink(number: string): HTMLElement {
  return element('a', { href: `#/block/${Number(number)}` }, count(Number(number)))
}

export function blockHashLink(hash: string): HTMLElement {
  return element('a', { href: `#/block/${hash}`, class: 'code' }, hash)
}

export function transactionLink(hash: string, isWhole = false): HTMLElement {
  return element('a', { href: `#/tx/${hash}`, class: 'code', title: hash }, isWhole ? hash : shortHash(hash))
}

export function addressLink(address: string | null | undefined, isWhole = false): HTMLElement {
  if (address === null || address === undefined) return element('span', { class: 'muted' }, 'new contract')
  return element(
    'a',
    { href: `#/address/${address}`, class: 'code', title: address },
    isWhole ? address : shortHash(address),
  )
}

/** Formats wei as coins, small amounts as wei. */
export function coins(wei: string | bigint): string {
  const value = BigInt(wei)
  if (value !== 0n && value < smallest) return `${value.toLocaleString('en')} wei`
  const digits = (value % weiPerCoin).toString().padStart(18, '0').replace(/0+$/, '')
  const whole = (value / weiPerCoin).toLocaleString('en')
  return `${whole}${digits === '' ? '' : `.${digits}`} RBTC`
}

export function whole(quantity: string): string {
  return BigInt(quantity).toLocaleString('en')
}

/** Shows the age of a time in seconds since 1970. */
export function age(seconds: number): HTMLElement {
  const time = new Date(seconds * 1000)
  const past = Math.trunc((Date.now() - time.getTime()) / 1000)
  const text = past < 0 ? `in ${span(-past)}` : `${span(Math.abs(past))} ago`
  return element('time', { title: time.toLocaleString(), datetime: time.toISOString() }, text)
}

export function pill(text: string, kind: 'good' | 'bad' | 'plain'): HTMLElement {
  return element('span', { class: `pill ${kind}` }, text)
}
