import type { IncomingMessage } from 'node:http'
import { namePattern } from '../auth/app.ts'
import type { Apps } from './apps.ts'
import { readJson } from './body.ts'
import type { Subject } from './figures/files.ts'
import { type RangeName, rangeNames } from './figures/series.ts'
import { ApiError } from './refusal.ts'
import type { FigureReport, NodeReport } from './shapes.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The first group, if any, is the name of an app, of a peer or of a ban. */
  readonly path: RegExp
  answer(name: string, request: IncomingMessage): Promise<Answer>
}

const all = /^\/api\/apps$/
const one = new RegExp(`^/api/apps/(${namePattern})$`)
const key = new RegExp(`^/api/apps/(${namePattern})/rotate$`)

/** Returns the routes of the API. `apps` is undefined if the node cannot store apps. */
export function routesOf(
  apps: Apps | undefined,
  report: () => Promise<NodeReport>,
  figures: (subject: Subject, range: RangeName) => Promise<FigureReport>,
): readonly Route[] {
  const storedApps = (): Apps => {
    if (apps !== undefined) return apps
    throw new ApiError(409, 'ephemeral', 'this node has no data directory: set auth.file to store apps')
  }
  return [
    { method: 'GET', path: /^\/api\/node$/, answer: async () => ok(await report()) },
    {
      method: 'GET',
      path: /^\/api\/figures$/,
      async answer(_none, request) {
        const { range, app } = figureQuery(request.url ?? '')
        if (app === undefined) return ok(await figures('node', range))
        await storedApps().show(app)
        return ok(await figures({ app }, range))
      },
    },
    { method: 'GET', path: all, answer: async () => ok(apps === undefined ? { apps: [] } : await apps.list()) },
    {
      method: 'POST',
      path: all,
      async answer(_none, request) {
        const body = await storedApps().create(await readJson(request))
        return { status: 201, headers: { Location: `/api/apps/${body.app.name}` }, body }
      },
    },
    { method: 'GET', path: one, answer: async (name) => ok(await storedApps().show(name)) },
    {
      method: 'PATCH',
      path: one,
      answer: async (name, request) => ok(await storedApps().edit(name, await readJson(request))),
    },
    { method: 'DELETE', path: one, answer: async (name) => ok(await storedApps().revoke(name)) },
    {
      method: 'POST',
      path: key,
      answer: async (name, request) => ok(await storedApps().rotate(name, await readJson(request))),
    },
  ]
}

/** Reads the query of /api/figures. Throws ApiError if the range is not in `rangeNames`. */
function figureQuery(url: string): { readonly range: RangeName; readonly app: string | undefined } {
  const query = new URL(url, 'http://localhost').searchParams
  const asked = query.get('range')
  const range = rangeNames.find((name) => name === asked)
  if (range !== undefined) return { range, app: query.get('app') ?? undefined }
  throw new ApiError(400, 'range', `range: expected one of ${rangeNames.join(', ')}`, { member: 'range' })
}

function ok(body: object): Answer {
  return { status: 200, body }
}
