import type { IncomingMessage } from 'node:http'
import { namePattern } from '../auth/app.ts'
import type { Apps } from './apps.ts'
import { readJson } from './body.ts'
import { ApiError } from './refusal.ts'
import type { NodeReport } from './shapes.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Its first group, if it has one, is the name of an app. */
  readonly path: RegExp
  answer(name: string, request: IncomingMessage): Promise<Answer>
}

const all = /^\/api\/apps$/
const one = new RegExp(`^/api/apps/(${namePattern})$`)
const key = new RegExp(`^/api/apps/(${namePattern})/rotate$`)

/** The API. Without `apps`, nothing can be kept. */
export function routesOf(apps: Apps | undefined, report: () => Promise<NodeReport>): readonly Route[] {
  const kept = (): Apps => {
    if (apps !== undefined) return apps
    throw new ApiError(409, 'ephemeral', 'this node keeps nothing: set auth.file to keep apps')
  }
  return [
    { method: 'GET', path: /^\/api\/node$/, answer: async () => ok(await report()) },
    { method: 'GET', path: all, answer: async () => ok(apps === undefined ? { apps: [] } : await apps.list()) },
    {
      method: 'POST',
      path: all,
      async answer(_none, request) {
        const body = await kept().create(await readJson(request))
        return { status: 201, headers: { Location: `/api/apps/${body.app.name}` }, body }
      },
    },
    { method: 'GET', path: one, answer: async (name) => ok(await kept().show(name)) },
    {
      method: 'PATCH',
      path: one,
      answer: async (name, request) => ok(await kept().edit(name, await readJson(request))),
    },
    { method: 'DELETE', path: one, answer: async (name) => ok(await kept().revoke(name)) },
    {
      method: 'POST',
      path: key,
      answer: async (name, request) => ok(await kept().rotate(name, await readJson(request))),
    },
  ]
}

function ok(body: object): Answer {
  return { status: 200, body }
}
