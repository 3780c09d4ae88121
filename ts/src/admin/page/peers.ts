import type { BanView, NodeReport, PeerList, PeerView } from '../shapes.ts'
import { addPeer, ban, removePeer, unban } from './api.ts'
import { byId, element, foreign, setText } from './element.ts'
import { openForm } from './form.ts'
import { bytes, count, span } from './format.ts'
import { heading, table } from './layout.ts'

/** Lengths of a ban in seconds. */
const lengths: readonly (readonly [string, string])[] = [
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['2592000', '30 days'],
  ['', 'without end'],
]

interface PeerRow {
  readonly root: HTMLElement
  show(peer: PeerView): void
}

/** Peers and bans, with buttons to change them. */
export class PeersPart {
  readonly #changed: () => void
  readonly #rows = new Map<string, PeerRow>()
  readonly #add = element('button', { type: 'button', click: () => this.#openAddition() }, 'Add peer')
  readonly #note = element('p', { class: 'muted' })
  readonly #body = element('tbody')
  readonly #peers = table(
    ['Node', 'Program', 'Direction', '#Head', '#Score', 'Connected', '#Received', '#Sent', ''],
    this.#body,
  )
  readonly #banBody = element('tbody')
  readonly #bans = table(['Banned', 'Until', ''], this.#banBody)
  #shownBans = ''

  /** `changed` is called when the node has changed a peer or a ban. */
  constructor(changed: () => void) {
    this.#changed = changed
    byId('peers').append(heading('Peers', 'peers-title', this.#add), this.#note, this.#peers, this.#bans)
  }

  show({ enode, peers, dialled, bans }: PeerList, { sync }: NodeReport): void {
    this.#add.disabled = sync === null
    this.#peers.hidden = peers.length === 0
    const waiting = dialled.filter((url) => !peers.some(({ id }) => url.includes(id)))
    setText(this.#note, noteOf(sync === null, peers.length, waiting, enode))
    const ids = new Set(peers.map(({ id }) => id))
    for (const [id, { root }] of this.#rows) {
      if (ids.has(id)) continue
      root.remove()
      this.#rows.delete(id)
    }
    for (const peer of peers) {
      const row = this.#rows.get(peer.id) ?? this.#peerRow(peer)
      if (!row.root.isConnected) this.#body.append(row.root)
      this.#rows.set(peer.id, row)
      row.show(peer)
    }
    this.#showBans(bans)
  }

  #peerRow({ id, client, direction, isStatic, address }: PeerView): PeerRow {
    const cell = () => element('td', { class: 'number' })
    const cells = [cell(), cell(), cell(), cell(), cell()] as const
    const [head, score, connected, received, sent] = cells
    const short = id.slice(0, 16)
    const act = (text: string, click: () => void, className = '') =>
      element('button', { type: 'button', class: className, 'aria-label': `${text} ${short}`, click }, text)
    const root = element(
      'tr',
      { 'data-peer': id },
      element('th', { scope: 'row', class: 'code', title: id }, short, element('br'), address),
      element('td', {}, foreign(client)),
      element('td', {}, `${direction === 'in' ? 'inbound' : 'outbound'}${isStatic ? ', named' : ''}`),
      ...cells,
      element(
        'td',
        { class: 'row-acts' },
        act('Remove', () => this.#openRemoval(id)),
        ' ',
        act('Ban', () => this.#openBan(id, address), 'danger-text'),
      ),
    )
    return {
      root,
      show(peer) {
        setText(head, peer.head?.number == null ? 'unknown' : count(peer.head.number))
        setText(score, count(peer.score))
        setText(connected, span(peer.connectedSeconds))
        setText(received, bytes(peer.bytesIn))
        setText(sent, bytes(peer.bytesOut))
      },
    }
  }

  /** Creates the rows again only after a change, so that the focus on a button stays. */
  #showBans(bans: readonly BanView[]): void {
    this.#bans.hidden = bans.length === 0
    const shown = JSON.stringify(bans)
    if (shown === this.#shownBans) return
    this.#shownBans = shown
    const rows = bans.map(({ target, until }) => {
      const lift = element(
        'button',
        { type: 'button', 'aria-label': `Admit ${target.slice(0, 16)}`, click: () => void this.#lift(target) },
        'Admit',
      )
      return element(
        'tr',
        { 'data-ban': target },
        element(
          'th',
          { scope: 'row', class: 'code', title: target },
          target.length > 64 ? target.slice(0, 16) : target,
        ),
        element('td', {}, until === null ? 'without end' : new Date(until).toLocaleString()),
        element('td', { class: 'row-acts' }, lift),
      )
    })
    this.#banBody.replaceChildren(...rows)
  }

  async #lift(target: string): Promise<void> {
    await unban(target).catch(() => undefined)
    this.#changed()
  }

  #openAddition(): void {
    openForm({
      title: 'Add peer',
      intro: [
        element('p', {}, 'The node is dialled until this node stops. p2p.peers in the settings makes it permanent.'),
      ],
      fields: [{ name: 'enode', label: 'URL', kind: 'text', isRequired: true, hint: 'enode://ID@HOST:PORT' }],
      action: 'Add',
      isAllowed: ({ enode }) => enode !== '',
      send: async ({ enode = '' }) => {
        await addPeer(enode)
        this.#changed()
      },
    })
  }

  #openRemoval(id: string): void {
    openForm({
      title: 'Remove peer',
      intro: [
        element(
          'p',
          {},
          'The connection is closed, and the node is not dialled by name any more. It may connect again.',
        ),
      ],
      fields: [],
      action: 'Remove',
      send: async () => {
        await removePeer(id)
        this.#changed()
      },
    })
  }

  #openBan(id: string, address: string): void {
    const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    openForm({
      title: 'Ban peer',
      intro: [
        element('p', {}, 'Its connections are closed, and it is neither dialled nor accepted while the ban lasts.'),
      ],
      fields: [
        {
          name: 'target',
          label: 'Ban',
          kind: 'choice',
          value: id,
          options: [
            [id, `the node ${id.slice(0, 16)}`],
            [host, `all nodes at ${host}`],
          ],
        },
        { name: 'seconds', label: 'For', kind: 'choice', value: '86400', options: lengths },
      ],
      action: 'Ban',
      isDangerous: true,
      send: async ({ target = '', seconds = '' }) => {
        await ban(target, seconds === '' ? null : Number(seconds))
        this.#changed()
      },
    })
  }
}

function noteOf(isAlone: boolean, peers: number, waiting: readonly string[], enode: string | null): string {
  if (isAlone) return 'This node runs without peers: p2p.port is 0.'
  const missing = waiting.length === 0 ? '' : ` Dialled, not connected: ${waiting.join(', ')}.`
  const own = enode === null ? '' : ` This node: ${enode}`
  return `${peers === 0 ? 'No peers yet: the node is searching.' : ''}${missing}${own}`.trim()
}
