import type { AppView, ListedApp, NodeReport } from '../shapes.ts'
import { openCreation, openEdit, openRevocation, openRotation } from './appForms.ts'
import { byId, element, foreign, setText } from './element.ts'
import { count, day } from './format.ts'
import { heading } from './methods.ts'
import { UsageMeter } from './usageMeter.ts'

interface Row {
  readonly place: HTMLElement
  readonly shown: string
  readonly usage: UsageMeter
}

/** From so many apps on they can be searched; more than so many are not shown at once. */
const manyApps = 8
const mostRows = 100

/** The apps, and what can be done with them. */
export class AppsPart {
  readonly #changed: () => void
  readonly #rows = new Map<string, Row>()
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

  /** `apps` is what there is, or why that cannot be told now: then those from before stay in sight. */
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
    this.#search.hidden = apps.length < manyApps
    const found = apps.filter((app) => this.#isWanted(app))
    const wanted = found.slice(0, mostRows)
    const isNone = found.length === 0 && this.#search.value !== ''
    const hidden = found.length - wanted.length
    setText(
      this.#more,
      isNone
        ? 'No app has this in its name, description or use case.'
        : hidden > 0
          ? `and ${count(hidden)} more: search for them`
          : '',
    )
    const names = new Set(wanted.map(({ name }) => name))
    for (const [name, { place }] of this.#rows) {
      if (names.has(name)) continue
      if (place.contains(document.activeElement)) this.#create.focus()
      place.remove()
      this.#rows.delete(name)
    }
    for (const [index, app] of wanted.entries()) this.#place(app, index, network ?? '')
  }

  #isWanted({ state, name, description, useCase }: AppView): boolean {
    if (state === 'revoked' && !this.#revoked.checked) return false
    const text = this.#search.value.trim().toLowerCase()
    return [name, description, useCase].some((one) => one.toLowerCase().includes(text))
  }

  /** A row is made anew only when its app has changed: whoever stands on one of its buttons stays there. */
  #place(app: ListedApp, index: number, network: string): void {
    const { usage, ...rest } = app
    const shown = JSON.stringify(rest)
    const before = this.#rows.get(app.name)
    const row = before?.shown === shown ? before : this.#row(app, network, shown)
    if (row !== before) {
      const label = before?.place.contains(document.activeElement) && document.activeElement?.getAttribute('aria-label')
      before?.place.replaceWith(row.place)
      this.#rows.set(app.name, row)
      if (label) row.place.querySelector<HTMLElement>(`[aria-label="${CSS.escape(label)}"]`)?.focus()
    }
    row.usage.show(usage)
    if (this.#list.children[index] !== row.place) {
      this.#list.insertBefore(row.place, this.#list.children[index] ?? null)
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
          'Everybody who reaches it may call, without a key. An app gives somebody a key, with limits and allow lists of its own. From the first one on, a key is asked for.',
        ),
      )
    }
    const text =
      problem !== ''
        ? `The apps cannot be told now: ${problem}`
        : !keepsApps
          ? 'This node keeps nothing on disk, so it has no apps: everybody who reaches it may call. Set auth.file to keep apps.'
          : staysOpen
            ? 'This node was started with --open: nobody is asked for a key, and no limit of an app counts.'
            : isEmpty && !isOpen
              ? 'No apps are left, but keys are still asked for: nobody may call.'
              : ''
    this.#state.hidden = text === ''
    this.#state.classList.toggle('warn', problem !== '')
    setText(this.#state, text)
  }

  #row(app: ListedApp, network: string, shown: string): Row {
    const { name, description, useCase, state } = app
    const isStranger = app.network !== network
    const act = (words: string, open: (app: AppView, done: () => void) => void, className = '') =>
      element(
        'button',
        { type: 'button', class: className, 'aria-label': `${words} ${name}`, click: () => open(app, this.#changed) },
        words,
      )
    const usage = new UsageMeter(app)
    const place = element(
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
          ...(isStranger ? [' ', element('span', { class: 'pill warn' }, `for ${app.network}: refused here`)] : []),
        ),
        ...(description === '' ? [] : [element('p', { class: 'description' }, foreign(description))]),
        element('p', { class: 'muted' }, keyText(app)),
      ),
      usage.place,
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
    return { place, shown, usage }
  }
}

function keyText({ createdAt, revokedAt, keys }: AppView): string {
  const made = `created ${day(createdAt)}`
  if (revokedAt !== null) return `${made} · revoked ${day(revokedAt)}`
  const now = Date.now()
  const good = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now)
  const current = good.at(-1)
  const end =
    current === undefined ? 'no good key' : current.expiresAt === null ? '' : `key ends ${day(current.expiresAt)}`
  const others = good.length > 1 ? `${good.length - 1} older key still good` : ''
  return [made, end, others].filter((part) => part !== '').join(' · ')
}

/** What restricts an app, in a few words each. */
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
