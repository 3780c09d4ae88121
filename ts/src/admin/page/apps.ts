import type { AppView, ListedApp, NodeReport } from '../shapes.ts'
import { openCreation, openEdit, openRevocation, openRotation } from './appForms.ts'
import { byId, element, foreign, setText } from './element.ts'
import { count, day } from './format.ts'
import { heading } from './layout.ts'
import { UsageMeter } from './usageMeter.ts'

interface AppRow {
  readonly root: HTMLElement
  /** The shown app as JSON, to detect changes. */
  readonly shown: string
  readonly usage: UsageMeter
}

/** Number of apps from which on the search field is shown, and limit of shown rows. */
const minSearched = 8
const maxRows = 100

/** The list of apps, with buttons to change them. */
export class AppsPart {
  readonly #changed: () => void
  readonly #rows = new Map<string, AppRow>()
  readonly #list = element('ul', { class: 'apps' })
  readonly #state = element('p', { class: 'notice', hidden: true })
  readonly #empty = element('div', { class: 'empty', hidden: true })
  readonly #create = element('button', { type: 'button', class: 'primary' }, 'New app')
  readonly #search = element('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search apps',
    hidden: true,
  })
  readonly #more = element('p', { class: 'muted more-rows', role: 'status' })
  readonly #revoked = element('input', { type: 'checkbox', id: 'show-revoked' })
  readonly #revokedLabel = element('label', { class: 'muted', hidden: true }, this.#revoked, ' ')
  readonly #revokedCount = document.createTextNode('')
  #apps: readonly ListedApp[] = []
  #report: NodeReport | undefined
  #problem = ''

  /** `changed` is called when the node has changed an app. */
  constructor(changed: () => void) {
    this.#changed = changed
    this.#revokedLabel.append(this.#revokedCount)
    this.#create.addEventListener('click', () => {
      if (this.#report !== undefined) openCreation(this.#apps.length === 0, this.#report.access, changed)
    })
    this.#revoked.addEventListener('change', () => this.#render())
    this.#search.addEventListener('input', () => this.#render())
    byId('apps').append(
      heading('Apps', 'apps-title', this.#search, this.#revokedLabel, this.#create),
      this.#state,
      this.#empty,
      this.#list,
      this.#more,
    )
  }

  /** Shows `apps`; a text is the reason why they are unknown, and the previous apps stay visible. */
  show(apps: readonly ListedApp[] | string, report: NodeReport): void {
    this.#problem = typeof apps === 'string' ? apps : ''
    if (typeof apps !== 'string') this.#apps = apps
    this.#report = report
    this.#render()
  }

  #render(): void {
    const { access, network } = this.#report ?? {}
    if (access === undefined) return
    const apps = this.#apps
    this.#create.disabled = !access.keepsApps
    this.#showState(access)
    const revoked = apps.filter(({ state }) => state === 'revoked').length
    this.#revokedLabel.hidden = revoked === 0
    this.#revokedCount.data = `show revoked (${count(revoked)})`
    this.#search.hidden = apps.length < minSearched
    const found = apps.filter((app) => this.#isWanted(app))
    const wanted = found.slice(0, maxRows)
    const isNone = found.length === 0 && this.#search.value !== ''
    const hidden = found.length - wanted.length
    setText(
      this.#more,
      isNone
        ? 'No app matches by name, description or use case.'
        : hidden > 0
          ? `and ${count(hidden)} more: search for them`
          : '',
    )
    const names = new Set(wanted.map(({ name }) => name))
    for (const [name, { root }] of this.#rows) {
      if (names.has(name)) continue
      if (root.contains(document.activeElement)) this.#create.focus()
      root.remove()
      this.#rows.delete(name)
    }
    for (const [index, app] of wanted.entries()) this.#showRow(app, index, network ?? '')
  }

  #isWanted({ state, name, description, useCase }: AppView): boolean {
    if (state === 'revoked' && !this.#revoked.checked) return false
    const text = this.#search.value.trim().toLowerCase()
    return [name, description, useCase].some((one) => one.toLowerCase().includes(text))
  }

  /** Shows the row of an app. A row is created again only if its app has changed, so that the focus on its buttons stays. */
  #showRow(app: ListedApp, index: number, network: string): void {
    const { usage, ...rest } = app
    const shown = JSON.stringify(rest)
    const before = this.#rows.get(app.name)
    const row = before?.shown === shown ? before : this.#row(app, network, shown)
    if (row !== before) {
      const label = before?.root.contains(document.activeElement) && document.activeElement?.getAttribute('aria-label')
      before?.root.replaceWith(row.root)
      this.#rows.set(app.name, row)
      if (label) row.root.querySelector<HTMLElement>(`[aria-label="${CSS.escape(label)}"]`)?.focus()
    }
    row.usage.show(usage)
    if (this.#list.children[index] !== row.root) {
      this.#list.insertBefore(row.root, this.#list.children[index] ?? null)
    }
  }

  #showState({ isOpen, staysOpen, keepsApps }: NodeReport['access']): void {
    const isEmpty = this.#apps.length === 0
    const problem = this.#problem
    this.#empty.hidden = !isEmpty || !isOpen || staysOpen || !keepsApps || problem !== ''
    if (!this.#empty.hidden && this.#empty.childElementCount === 0) {
      this.#empty.append(
        element('p', { class: 'strong' }, 'No apps yet: the node is open'),
        element(
          'p',
          {},
          'Any client that reaches it may call without a key. An app has a key with its own limits and allow lists. Once an app exists, requests need a key.',
        ),
      )
    }
    const text =
      problem !== ''
        ? `The apps are unavailable: ${problem}`
        : !keepsApps
          ? 'This node has no data directory, so it has no apps: any client that reaches it may call. Set auth.file to store apps.'
          : staysOpen
            ? 'This node was started with --open: requests need no key, and limits of apps do not apply.'
            : isEmpty && !isOpen
              ? 'No apps exist, but requests still need a key: every request is refused.'
              : ''
    this.#state.hidden = text === ''
    this.#state.classList.toggle('warn', problem !== '')
    setText(this.#state, text)
  }

  #row(app: ListedApp, network: string, shown: string): AppRow {
    const { name, description, useCase, state } = app
    const isForeign = app.network !== network
    const act = (words: string, open: (app: AppView, done: () => void) => void, className = '') =>
      element(
        'button',
        { type: 'button', class: className, 'aria-label': `${words} ${name}`, click: () => open(app, this.#changed) },
        words,
      )
    const usage = new UsageMeter(app)
    const root = element(
      'li',
      { class: `app ${state}`, 'data-app': name },
      element(
        'div',
        { class: 'who' },
        element(
          'h3',
          {},
          foreign(name),
          ' ',
          element(
            'span',
            { class: `pill ${state === 'active' ? 'good' : state === 'expired' ? 'warn' : 'plain'}` },
            state,
          ),
          ...(useCase === '' ? [] : [' ', element('span', { class: 'badge' }, foreign(useCase))]),
          ...(isForeign ? [' ', element('span', { class: 'pill warn' }, `for ${app.network}: refused here`)] : []),
        ),
        ...(description === '' ? [] : [element('p', { class: 'description' }, foreign(description))]),
        element('p', { class: 'muted' }, keyText(app)),
      ),
      usage.root,
      element(
        'ul',
        { class: 'rules', 'aria-label': `Rules of ${name}` },
        ...rules(app).map((one) => element('li', {}, one)),
      ),
      ...(state === 'revoked'
        ? []
        : [
            element(
              'div',
              { class: 'acts' },
              act('Edit', openEdit),
              act('Rotate', openRotation),
              act('Revoke', openRevocation, 'danger-text'),
            ),
          ]),
    )
    return { root, shown, usage }
  }
}

function keyText({ createdAt, revokedAt, keys }: AppView): string {
  const made = `created ${day(createdAt)}`
  if (revokedAt !== null) return `${made} · revoked ${day(revokedAt)}`
  const now = Date.now()
  const valid = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now)
  const current = valid.at(-1)
  const end =
    current === undefined ? 'no valid key' : current.expiresAt === null ? '' : `key expires ${day(current.expiresAt)}`
  const older = valid.length - 1
  const others = older > 0 ? `${older} older ${older === 1 ? 'key' : 'keys'} still valid` : ''
  return [made, end, others].filter((part) => part !== '').join(' · ')
}

/** Returns the restrictions of an app in a few words each. */
function rules({ limits, allow, jwt }: AppView): string[] {
  const some = (words: string, entries: readonly unknown[]) =>
    entries.length === 0 ? [] : [`${words}: ${count(entries.length)}`]
  const most = (value: number | null, words: string) => (value === null ? [] : [`${count(value)} ${words}`])
  const all = [
    ...most(limits.unitsPerSecond, 'units/s'),
    ...most(limits.burst, 'units burst'),
    ...most(limits.dailyUnits, 'units/day'),
    ...most(limits.monthlyUnits, 'units/month'),
    ...most(limits.concurrency, 'at a time'),
    ...some('addresses', allow.sources),
    ...some('origins', allow.origins),
    ...some('contracts', allow.contracts),
    ...some('methods', allow.methods),
    ...(jwt.isRequired ? ['token needed'] : []),
    ...some('token keys', jwt.keys),
  ]
  return all.length === 0 ? ['no limits'] : all
}
