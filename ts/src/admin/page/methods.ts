import type { MethodReport, NodeReport } from '../shapes.ts'
import { Curve } from './curve.ts'
import { byId, element, setText } from './element.ts'
import { count, latency, rate } from './format.ts'
import { heading, table } from './layout.ts'

/** Meanings of error codes that all methods share. */
const meanings: Readonly<Record<string, string>> = {
  '-32700': 'not JSON',
  '-32600': 'invalid request',
  '-32601': 'method not served',
  '-32602': 'invalid parameters',
  '-32603': 'internal error: see the log of the node',
  '-32000': 'refused by the node',
  '-32005': 'limit reached',
  '-32010': 'transaction refused',
  '-32015': 'execution failed',
  '3': 'execution reverted',
}

/** Meanings of HTTP statuses of refused requests. */
const refusalMeanings: Readonly<Record<string, string>> = {
  400: 'malformed request',
  401: 'API key or token missing, invalid or expired',
  403: 'host, origin or address not allowed',
  405: 'not sent with POST',
  408: 'body arrived too slowly',
  413: 'body too large',
  415: 'body not JSON',
  426: 'WebSocket version not supported',
  429: 'rate, quota or concurrency limit reached',
  503: 'overloaded, or a store is away',
}

interface MethodRow {
  readonly root: HTMLTableRowElement
  show(method: MethodReport): void
}

/** The called methods, most used first, and the errors. */
export class Methods {
  readonly #rows = new Map<string, MethodRow>()
  readonly #body = element('tbody')
  readonly #nothing = element('p', { class: 'muted' }, 'No requests yet.')
  readonly #table: HTMLElement
  readonly #errors = element('tbody')
  readonly #errorTable: HTMLElement
  readonly #refusals = element('tbody')
  readonly #refusalTable = table(['HTTP status', 'Meaning', '#Refused', '#Per second'], this.#refusals)
  readonly #noErrors = element('p', { class: 'muted' }, 'No request was answered with an error.')

  constructor() {
    this.#table = table(['Method', '#Requests', '#Per second', 'Last 5 minutes', '#p50', '#p99', '#Errors'], this.#body)
    byId('methods').append(heading('Methods', 'methods-title'), this.#nothing, this.#table)
    this.#errorTable = table(['Code', 'Meaning', '#Answers', '#Per second'], this.#errors)
    byId('errors').append(heading('Errors', 'errors-title'), this.#noErrors, this.#errorTable, this.#refusalTable)
  }

  show({ methods, errors, refusals }: NodeReport): void {
    this.#nothing.hidden = methods.length > 0
    this.#table.hidden = methods.length === 0
    const ordered = methods.toSorted((one, other) => other.count - one.count || (one.method < other.method ? -1 : 1))
    for (const [index, method] of ordered.entries()) {
      const row = this.#rows.get(method.method) ?? newRow(method.method)
      this.#rows.set(method.method, row)
      row.show(method)
      if (this.#body.children[index] !== row.root) this.#body.insertBefore(row.root, this.#body.children[index] ?? null)
    }
    this.#noErrors.hidden = errors.length + refusals.length > 0
    this.#refusalTable.hidden = refusals.length === 0
    this.#errorTable.hidden = errors.length === 0
    this.#errors.replaceChildren(
      ...errors.map(({ code, ...figures }) => codeRow(code, meanings[code], 'answers', figures)),
    )
    this.#refusals.replaceChildren(
      ...refusals.map(({ status, ...figures }) => codeRow(status, refusalMeanings[status], 'refused', figures)),
    )
  }
}

function codeRow(
  code: number | 'other',
  meaning: string | undefined,
  name: string,
  figures: { readonly count: number; readonly perSecond: number },
): HTMLElement {
  return element(
    'tr',
    { [`data-${name}`]: String(code) },
    element('th', { scope: 'row', class: 'code' }, String(code)),
    element('td', {}, meaning ?? ''),
    element('td', { class: 'number', 'data-name': name }, count(figures.count)),
    element('td', { class: 'number', 'data-name': 'per second' }, rate(figures.perSecond)),
  )
}

function newRow(method: string): MethodRow {
  const curve = new Curve()
  const cell = (name: string) => element('td', { class: 'number', 'data-name': name })
  const cells = [cell('requests'), cell('per second'), cell('p50'), cell('p99'), cell('errors')] as const
  const [total, perSecond, p50, p99, errors] = cells
  const root = element(
    'tr',
    { 'data-method': method },
    element('th', { scope: 'row', class: 'code' }, method),
    total,
    perSecond,
    element('td', { class: 'wide' }, curve.svg),
    p50,
    p99,
    errors,
  )
  return {
    root,
    show(report) {
      setText(total, count(report.count))
      setText(perSecond, rate(report.perSecond))
      setText(p50, latency(report.p50Ms))
      setText(p99, latency(report.p99Ms))
      setText(errors, count(report.errors))
      errors.classList.toggle('some', report.errors > 0)
      curve.show(report.curve)
    },
  }
}
