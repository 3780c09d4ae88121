import type { AppList, AppView, AppWithKey, FigureReport, NodeReport, PeerList, RangeName, Refusal } from '../shapes.ts'

const timeoutMs = 8000
const tokenKey = 'rhizome.token'

/** The node refused the request. */
export class Refused extends Error {
  readonly status: number
  readonly member: string | undefined

  constructor(status: number, { message, member }: Refusal['error']) {
    super(message)
    this.status = status
    this.member = member
  }
}

/** Stores the token until the tab is closed. */
export function storeToken(token: string): void {
  sessionStorage.setItem(tokenKey, token)
}

export const nodeReport = (): Promise<NodeReport> => ask('GET', '/api/node')
export const allPeers = (): Promise<PeerList> => ask('GET', '/api/peers')
export const addPeer = (enode: string): Promise<object> => ask('POST', '/api/peers', { enode })
export const removePeer = (id: string): Promise<object> => ask('DELETE', `/api/peers/${id}`)
/** Bans a node or addresses; null: without end. */
export const ban = (target: string, seconds: number | null): Promise<object> =>
  ask('POST', '/api/bans', { target, seconds })
export const unban = (target: string): Promise<object> => ask('DELETE', `/api/bans/${encodeURIComponent(target)}`)
export const allApps = (): Promise<AppList> => ask('GET', '/api/apps')
/** Fetches figures over time. `app`: the name of an app; empty for the node. */
export const figures = (range: RangeName, app: string): Promise<FigureReport> =>
  ask('GET', `/api/figures?${new URLSearchParams({ range, ...(app !== '' && { app }) })}`)
export const createApp = (app: object): Promise<AppWithKey> => ask('POST', '/api/apps', app)
export const editApp = (name: string, edit: object): Promise<AppView> => ask('PATCH', pathOf(name), edit)
export const revokeApp = (name: string): Promise<AppView> => ask('DELETE', pathOf(name))
export const rotateApp = (name: string, terms: object): Promise<AppWithKey> =>
  ask('POST', `${pathOf(name)}/rotate`, terms)

function pathOf(name: string): string {
  return `/api/apps/${encodeURIComponent(name)}`
}

/** Sends a request. Throws Refused, or the error of `fetch` without an answer. */
async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const token = sessionStorage.getItem(tokenKey)
  const response = await fetch(path, {
    method,
    headers: {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer = (await response.json()) as T | Refusal
  if (!response.ok) throw new Refused(response.status, (answer as Refusal).error)
  return answer as T
}
