// Elements are built from text and nodes only, so that texts of the node never become markup.

type Attributes = Readonly<Record<string, string | boolean | ((event: Event) => void)>>
type Child = Node | string

/** Creates an HTML element. A function listens to the event of its name; `true` sets an attribute without value. */
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

/** Creates an element for a text entered by a user, isolated so that its writing direction does not affect other text. */
export function foreign(text: string, className = ''): HTMLElement {
  return element('bdi', className === '' ? {} : { class: className }, text)
}

/** Returns the element of the page with an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found
}

/** Sets a text only if it differs, so that a selection of text stays. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text
}
