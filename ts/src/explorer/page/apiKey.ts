import { byId } from '../../admin/page/element.ts'

const storedAs = 'rhizome.key'

/** Returns the URL for WebSockets with the entered key. */
export function withKey(url: string): string {
  const key = sessionStorage.getItem(storedAs) ?? ''
  return key === '' ? url : `${url}/${encodeURIComponent(key)}`
}

/** Shows or hides the field for an API key. */
export function askForKey(isWanted: boolean): void {
  const form = byId('key-form')
  const isNew = isWanted && form.hidden
  form.hidden = !isWanted
  if (isNew) byId('key').focus()
}

/** Calls back with each key that is entered. It is stored until the tab is closed. */
export function onKey(listener: () => void): void {
  byId('key-form').addEventListener('submit', (event) => {
    event.preventDefault()
    sessionStorage.setItem(storedAs, (byId('key') as HTMLInputElement).value.trim())
    listener()
  })
}
