import { element } from './element.ts'

/** Creates the heading of a part of the page. `others` follow the title in its line. */
export function heading(text: string, id: string, ...others: readonly Node[]): HTMLElement {
  return element('div', { class: 'heading' }, element('h2', { id }, text), ...others)
}

/** Creates a table. A column name that starts with `#` marks a column of numbers. */
export function table(columns: readonly string[], body: HTMLElement): HTMLElement {
  const heads = columns.map((name) =>
    element('th', name.startsWith('#') ? { scope: 'col', class: 'number' } : { scope: 'col' }, name.replace('#', '')),
  )
  return element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body)
}
