import type { AppList, AppView, AppWithKey, FigureReport, NodeReport, RangeName, Refusal } from '../shapes.ts'

const patienceMs = 8000
const tokenPlace = 'rhizome.token'

/** The node answered, and said no. */
export class Refused extends Error {
  readonly status: number
  readonly member: string | undefined

  constructor(status: number, { message, member }: Refusal['error']) {
    super(message)
    this.status = status
    this.member = member
  }
}

/** The token lives as long as the tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(tokenPlace, token)
}

export const nodeReport = (): Promise<NodeReport> => ask('GET', '/api/node')
export const allApps = (): Promise<AppList> => ask('GET', '/api/apps')
/** `app`: the name of an app; empty for the node. */
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

/** Throws Refused, or what fetch throws when there is no answer. */
async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const token = sessionStorage.getItem(tokenPlace)
  const response = await fetch(path, {
    method,
    headers: {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(patienceMs),
  })
  const answer = (await response.json()) as T | Refusal
  if (!response.ok) throw new Refused(response.status, (answer as Refusal).error)
  return answer as T
}
