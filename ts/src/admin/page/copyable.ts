import { element } from './element.ts'

/** Creates a read-only field with a button that copies it. `isFirst`: the button gets the focus when the form opens. */
export function copyable(label: string, text: string, isFirst = false): HTMLElement {
  const input = element('input', { type: 'text', readonly: true, 'aria-label': label, class: 'code' })
  input.value = text
  input.addEventListener('focus', () => input.select())
  const button = element('button', { type: 'button', 'aria-label': `Copy: ${label}`, autofocus: isFirst }, 'Copy')
  button.addEventListener('click', async () => {
    button.textContent = (await copied(input)) ? 'Copied' : 'Press Ctrl+C'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  return element('div', { class: 'copyable' }, element('span', { class: 'name' }, label), input, button)
}

async function copied(input: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(input.value)
    return true
  } catch {
    // The clipboard is not available to pages of plain HTTP on other than loopback addresses.
    input.select()
    return document.execCommand('copy')
  }
}
