import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkBody, readJson } from './body.ts'
import { ApiError } from './refusal.ts'
import type { Route } from './routes.ts'
import type { PeerList } from './shapes.ts'

/** Peers of the node, as the core reports and changes them. Its functions throw ApiError. */
export interface PeerPort {
  list(): PeerList
  /** Dials a node until the node stops. */
  add(enode: string): void
  /** Disconnects a node and does not dial it any more. Returns false if it is unknown. */
  remove(id: string): boolean
  /** Bans a node by id or URL, or addresses. Without `seconds` the ban has no end. */
  ban(target: string, seconds: number | undefined): void
  /** Lifts a ban. Returns false if there was none. */
  unban(target: string): boolean
}

const closed = { additionalProperties: false }
const text = (expects: string) => Type.String({ minLength: 1, maxLength: 512, expects })

const newPeer = Compile(Type.Object({ enode: text('enode://ID@HOST:PORT') }, closed))
const newBan = Compile(
  Type.Object(
    {
      target: text('a node id, an enode URL, an address, or a block of addresses'),
      seconds: Type.Optional(
        Type.Union([Type.Integer({ minimum: 1, maximum: 0xffff_ffff }), Type.Null()], {
          expects: 'a whole number of at least 1, or null for a ban without end',
        }),
      ),
    },
    closed,
  ),
)

/** Returns the routes of the API about peers. `note` logs a change. */
export function peerRoutes(port: PeerPort, note: (action: string, peer: string) => void): readonly Route[] {
  return [
    { method: 'GET', path: /^\/api\/peers$/, answer: async () => ({ status: 200, body: port.list() }) },
    {
      method: 'POST',
      path: /^\/api\/peers$/,
      async answer(_none, request) {
        const { enode } = checkBody(newPeer, await readJson(request))
        port.add(enode)
        note('added', enode)
        return { status: 201, body: { enode } }
      },
    },
    {
      method: 'DELETE',
      path: /^\/api\/peers\/([0-9a-fA-F]{128})$/,
      async answer(id) {
        if (!port.remove(id)) throw new ApiError(404, 'unknown', 'id: there is no such peer')
        note('removed', id)
        return { status: 200, body: { id } }
      },
    },
    {
      method: 'POST',
      path: /^\/api\/bans$/,
      async answer(_none, request) {
        const { target, seconds } = checkBody(newBan, await readJson(request))
        port.ban(target, seconds ?? undefined)
        note('banned', target)
        return { status: 201, body: { target } }
      },
    },
    {
      // A block of addresses has a slash.
      method: 'DELETE',
      path: /^\/api\/bans\/((?:[0-9a-f:./]|%3A|%2F)+)$/i,
      async answer(name) {
        const target = decodeURIComponent(name)
        if (!port.unban(target)) throw new ApiError(404, 'unknown', 'target: there is no such ban')
        note('admitted', target)
        return { status: 200, body: { target } }
      },
    },
  ]
}
