// Elements are made of text and nodes only: nothing that the node tells ever becomes markup.

type Attributes = Readonly<Record<string, string | boolean | ((event: Event) => void)>>
type Child = Node | string

/** An HTML element. Functions listen to the event of their name; true sets an attribute without value. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value)
    else if (typeof value === 'string') made.setAttribute(name, value)
    else made.toggleAttribute(name, value)
  }
  made.append(...children)
  return made
}

/** Text of others: the direction of its script stays within it. */
export function foreign(text: string, className = ''): HTMLElement {
  return element('bdi', className === '' ? {} : { class: className }, text)
}

/** The element of the page with an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found
}

/** Sets a text only when it differs: what is marked stays so. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text
}
