import { byId, element, setText } from '../../admin/page/element.ts'
import type { ExplorerSettings, KnownSignatures } from '../settings.ts'
import { addressPage } from './addressPage.ts'
import { askForKey, onKey, withKey } from './apiKey.ts'
import { blockPage, readBlock, unclePage } from './blockPage.ts'
import type { Transaction } from './chain.ts'
import { Connection, NodeError } from './connection.ts'
import { controlsPage, hasControls } from './controls.ts'
import { headText, home } from './home.ts'
import { poolPage } from './poolPage.ts'
import { note } from './show.ts'
import { addSignatures } from './signatures.ts'
import { transactionPage } from './transactionPage.ts'
import type { Page, View } from './view.ts'

// Shows the view of the address after `#`, and shows it again when it depends on the head and the head changes.

interface Route {
  readonly view: View
  readonly followsHead?: boolean
  /** Whether the view decodes inputs and logs. */
  readonly decodes?: boolean
}

const views: Readonly<Record<string, Route>> = {
  '': { view: home, followsHead: true },
  block: { view: blockPage, decodes: true },
  uncle: { view: unclePage },
  tx: { view: transactionPage, decodes: true },
  address: { view: addressPage, decodes: true },
  pool: { view: poolPage, followsHead: true },
  controls: { view: controlsPage },
}
const refreshMs = 250

let page: Page | undefined
let signatures: Promise<void> | undefined
let shown = 0
let isRefreshing = false
let isWantedAgain = false

async function start(): Promise<void> {
  const { network, socketUrl, isDevelopment } = await readSettings()
  setText(byId('network'), network)
  if (socketUrl === null) {
    showAway('The node serves no WebSockets ([ws] enabled = false), which this page needs.')
    return
  }
  const node = new Connection(() => withKey(socketUrl), {
    onOpen: () => void greet(node, isDevelopment),
    onAway: () => void reportAway(),
    onHead: () => void follow(),
  })
  onKey(() => node.retry())
}

async function readSettings(): Promise<ExplorerSettings> {
  return (await (await fetch('/settings')).json()) as ExplorerSettings
}

/** Says why there is no connection. A browser reports a rejected key like a node that is away. */
async function reportAway(): Promise<void> {
  const needsKey = await readSettings().then(
    (settings) => settings.needsKey,
    () => false,
  )
  askForKey(needsKey)
  showAway(
    needsKey
      ? 'The node requires an API key; the entered one is missing or not valid.'
      : 'The node does not answer; trying again every two seconds.',
  )
}

/** Reads the signatures of the node once. If they cannot be read, the common ones remain. */
function readSignatures(): Promise<void> {
  signatures ??= fetch('/signatures')
    .then(async (answer) => addSignatures((await answer.json()) as KnownSignatures))
    .catch(() => undefined)
  return signatures
}

/** Shows the view of a node that has just been reached. */
async function greet(node: Connection, isDevelopment: boolean): Promise<void> {
  try {
    const modules = node.ask<Record<string, string>>('rpc_modules').then((served) => new Set(Object.keys(served)))
    page = { node, isDevelopment, modules, refresh: () => void show(false) }
    await Promise.all([modules, showHead(node), show(false)])
    byId('controls-link').hidden = !(await hasControls(page))
    showAway('')
    askForKey(false)
  } catch (error) {
    showAway(`The node refused the request: ${(error as Error).message}`)
  }
}

async function showHead(node: Connection): Promise<void> {
  const head = await node.ask<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false)
  setText(byId('head'), headText(head))
}

/** Shows a new head. Heads that come while one is shown cause one more turn. */
async function follow(): Promise<void> {
  isWantedAgain = isRefreshing
  if (isRefreshing || page === undefined) return
  isRefreshing = true
  try {
    await showHead(page.node)
    if (route().followsHead && !document.hidden) await show(false)
    await new Promise((resolve) => setTimeout(resolve, refreshMs))
  } catch {
    // The connection reports that the node is away.
  } finally {
    isRefreshing = false
  }
  if (isWantedAgain) void follow()
}

function route(): Route & { readonly words: readonly string[] } {
  const [name = '', ...words] = location.hash.replace(/^#\/?/, '').split('/')
  return { ...((Object.hasOwn(views, name) ? views[name] : undefined) ?? unknownView), words }
}

const unknownView: Route = { view: async () => [note('There is nothing at this address.')] }

/** Shows the view of the address. `isNew`: the reader went there. */
async function show(isNew: boolean): Promise<void> {
  if (page === undefined) return
  const turn = ++shown
  const { view, words, decodes } = route()
  let content: readonly Node[]
  try {
    if (decodes) await readSignatures()
    content = await view(page, words)
  } catch (error) {
    content = [note(error instanceof NodeError ? `The node refused the request: ${error.message}` : String(error))]
  }
  // A later view has precedence.
  if (turn !== shown) return
  byId('content').replaceChildren(...content)
  if (!isNew) return
  // The reader may be typing the next search already.
  if (document.activeElement !== byId('searched')) byId('content').focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Goes to what a text names: number, hash of a block or transaction, or address. */
async function search(text: string): Promise<void> {
  const wanted = text.trim().toLowerCase()
  if (page === undefined || wanted === '') return
  byId('content').focus({ preventScroll: true })
  const go = (address: string) => {
    location.hash = address
  }
  if (/^0x[0-9a-f]{40}$/.test(wanted)) go(`#/address/${wanted}`)
  else if (/^[0-9]{1,15}$/.test(wanted)) go(`#/block/${wanted}`)
  else if (/^(0x)?[0-9a-f]{64}$/.test(wanted)) {
    const hash = wanted.startsWith('0x') ? wanted : `0x${wanted}`
    const [transaction, block] = await Promise.all([
      page.node.ask<Transaction | null>('eth_getTransactionByHash', hash),
      readBlock(page.node, hash),
    ])
    go(transaction === null && block !== null ? `#/block/${hash}` : `#/tx/${hash}`)
  } else {
    byId('content').replaceChildren(
      note('Search for a block number, a hash (0x and 64 digits) or an address (0x and 40 digits).'),
    )
    // For a correction of the text.
    byId('searched').focus()
  }
}

function showAway(text: string): void {
  const notice = byId('away')
  notice.hidden = text === ''
  setText(notice, text)
}

window.addEventListener('hashchange', () => void show(true))
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && route().followsHead) void show(false)
})
byId('search').addEventListener('submit', (event) => {
  event.preventDefault()
  void search((byId('searched') as HTMLInputElement).value).catch((error: Error) => {
    byId('content').replaceChildren(element('p', { class: 'notice' }, error.message))
  })
})
document.addEventListener('keydown', (event) => {
  // As in other explorers.
  if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault()
    byId('searched').focus()
  }
})
void start().catch((error: Error) => showAway(`The page could not start: ${error.message}`))
