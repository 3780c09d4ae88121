import type { AppUse, ListedApp } from '../shapes.ts'
import { element, setText } from './element.ts'
import { count, share } from './format.ts'

/** What an app has used today and this month, against its quotas. */
export class UsageMeter {
  readonly place: HTMLElement
  readonly #updates: readonly ((usage: AppUse) => void)[]

  constructor({ name, limits }: ListedApp) {
    const today = period('Today', limits.dailyUnits, `Quota of ${name} today`)
    const month = period('This month', limits.monthlyUnits, `Quota of ${name} this month`)
    this.place = element('div', { class: 'usage' }, today.place, month.place)
    this.#updates = [(usage) => today.show(usage.today), (usage) => month.show(usage.month)]
  }

  show(usage: AppUse): void {
    for (const update of this.#updates) update(usage)
  }
}

function period(title: string, quota: number | null, label: string) {
  const [requests, units, problems] = [element('span', { class: 'strong' }), element('span'), element('span')]
  const meter = element('meter', { min: '0', max: String(quota ?? 1), 'aria-label': label })
  const place = element(
    'div',
    { class: 'period' },
    element('span', { class: 'title' }, title),
    requests,
    // Keeps the columns where there is no quota.
    quota === null ? element('span') : meter,
    units,
    problems,
  )
  return {
    place,
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
