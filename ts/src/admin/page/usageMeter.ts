import type { AppUse, ListedApp } from '../shapes.ts'
import { element, setText } from './element.ts'
import { count, share } from './format.ts'

/** Usage of an app today and this month, and its share of the quotas. */
export class UsageMeter {
  readonly root: HTMLElement
  readonly #updates: readonly ((usage: AppUse) => void)[]

  constructor({ name, limits }: ListedApp) {
    const today = period('Today', limits.dailyUnits, `Quota of ${name} today`)
    const month = period('This month', limits.monthlyUnits, `Quota of ${name} this month`)
    this.root = element('div', { class: 'usage' }, today.root, month.root)
    this.#updates = [(usage) => today.show(usage.today), (usage) => month.show(usage.month)]
  }

  show(usage: AppUse): void {
    for (const update of this.#updates) update(usage)
  }
}

function period(title: string, quota: number | null, label: string) {
  const [requests, units, problems] = [element('span', { class: 'strong' }), element('span'), element('span')]
  const meter = element('meter', { min: '0', max: String(quota ?? 1), 'aria-label': label })
  const root = element(
    'div',
    { class: 'period' },
    element('span', { class: 'title' }, title),
    requests,
    // Without a quota, an empty element keeps the columns aligned.
    quota === null ? element('span') : meter,
    units,
    problems,
  )
  return {
    root,
    show(usage: AppUse['today']): void {
      setText(requests, `${count(usage.requests)} requests`)
      const of = quota === null ? '' : ` of ${count(quota)} (${share(usage.units, quota)})`
      setText(units, `${count(usage.units)} units${of}`)
      const { errors, refused } = usage
      setText(
        problems,
        [errors > 0 && `${count(errors)} errors`, refused > 0 && `${count(refused)} refused`]
          .filter(Boolean)
          .join(', '),
      )
      if (quota === null) return
      meter.value = usage.units
      meter.className = usage.units >= quota ? 'full' : usage.units >= 0.9 * quota ? 'near' : ''
    },
  }
}
