import { element } from './element.ts'

/** A text in a field of its own, with a button that copies it. The first one's button is where the form begins. */
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
    // Pages of plain HTTP addresses other than loopback have no clipboard.
    input.select()
    return document.execCommand('copy')
  }
}
