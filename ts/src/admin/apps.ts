import { type App, appNamed, createApp, editApp, revokeApp, rotateKey } from '../auth/app.ts'
import { AppError } from '../auth/appError.ts'
import { appView, keyUrls } from '../auth/appView.ts'
import type { AppStore, ServiceStore, UsageReport } from '../auth/store.ts'
import { dayOf, monthOf, noUsage } from '../auth/usage.ts'
import { editedApp, newApp, rotation } from './appBodies.ts'
import { checkBody } from './body.ts'
import { ApiError } from './refusal.ts'
import type { AppList, AppUse, AppView, AppWithKey, ListedApp } from './shapes.ts'

export interface AppsSettings {
  readonly network: string
  /** Public URL of the node. */
  readonly baseUrl: string
  /** Sends the changed keys to the workers; resolves when they have been sent. */
  readonly publish: () => Promise<void>
  /** Logs a change of an app, without its key. */
  readonly note: (action: string, app: string) => void
  readonly now: () => number
}

/** Operations of the admin API on apps. They throw ApiError and StoreError. */
export class Apps {
  readonly #store: AppStore
  readonly #usage: Pick<ServiceStore['usage'], 'report'>
  readonly #settings: AppsSettings
  #last: Promise<unknown> = Promise.resolve()

  constructor({ apps, usage }: Pick<ServiceStore, 'apps' | 'usage'>, settings: AppsSettings) {
    this.#store = apps
    this.#usage = usage
    this.#settings = settings
  }

  async list(): Promise<AppList> {
    const [apps, reports] = await Promise.all([this.#store.read(), this.#usage.report()])
    const used = new Map(reports.map((report) => [report.app, report]))
    return { apps: apps.map((app) => ({ ...this.#shown(app), usage: this.#use(used.get(app.name)) })) }
  }

  async show(name: string): Promise<ListedApp> {
    const found = (await this.list()).apps.find((app) => app.name === name)
    if (found === undefined) throw unknown(name)
    return found
  }

  async create(body: unknown): Promise<AppWithKey> {
    const { description = '', useCase = '', expiresAt, ...rest } = checkBody(newApp, body)
    const { name } = rest
    const { network, now } = this.#settings
    const app = { ...rest, description, useCase, network, expiresAt: this.#end(expiresAt) }
    const { apps, key } = await this.#change('created', name, (before) => createApp(before, app, now()))
    return this.#withKey(apps, name, key)
  }

  async edit(name: string, body: unknown): Promise<AppView> {
    const edited = checkBody(editedApp, body)
    const { apps } = await this.#change('edited', name, (before) => ({ apps: editApp(before, name, edited) }))
    return this.#shown(appNamed(apps, name))
  }

  async rotate(name: string, body: unknown): Promise<AppWithKey> {
    const { keepSeconds = 0, expiresAt } = checkBody(rotation, body)
    const terms = { keepMs: keepSeconds * 1000, expiresAt: this.#end(expiresAt) }
    const { now } = this.#settings
    const { apps, key } = await this.#change('rotated', name, (before) => rotateKey(before, name, terms, now()))
    return this.#withKey(apps, name, key)
  }

  async revoke(name: string): Promise<AppView> {
    const { now } = this.#settings
    const { apps } = await this.#change('revoked', name, (before) => ({ apps: revokeApp(before, name, now()) }))
    return this.#shown(appNamed(apps, name))
  }

  /** Runs changes one after the other. The lock of the store would also order them, but fails after a short wait. */
  #change<T extends { readonly apps: readonly App[] }>(
    action: string,
    name: string,
    edit: (apps: readonly App[]) => T,
  ): Promise<T> {
    const change = async (): Promise<T> => {
      const result = await this.#store.change((apps) => refusing(name, () => edit(apps)))
      await this.#settings.publish()
      this.#settings.note(action, name)
      return result
    }
    const changed = this.#last.then(change)
    this.#last = changed.catch(() => undefined)
    return changed
  }

  #end(expiresAt: string | null | undefined): number | null {
    if (expiresAt === null || expiresAt === undefined) return null
    const end = Date.parse(expiresAt)
    if (end > this.#settings.now()) return end
    throw new ApiError(400, 'invalid', 'expiresAt: expected a time in the future', { member: 'expiresAt' })
  }

  #shown(app: App): AppView {
    return appView(app, this.#settings.now())
  }

  #use(report: UsageReport | undefined): AppUse {
    const now = this.#settings.now()
    return { today: report?.days[dayOf(now)] ?? noUsage, month: report?.months[monthOf(now)] ?? noUsage }
  }

  #withKey(apps: readonly App[], name: string, key: string): AppWithKey {
    return { app: this.#shown(appNamed(apps, name)), key, urls: keyUrls(this.#settings.baseUrl, key) }
  }
}

function unknown(name: string): ApiError {
  return new ApiError(404, 'unknown', `name: there is no app ${name}`)
}

/** Converts an AppError of `work`: an unknown app becomes 404, invalid values of the body 400, conflicts 409. */
function refusing<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { kind, message, member } = error
    throw kind === 'unknown' ? unknown(name) : new ApiError(kind === 'invalid' ? 400 : 409, kind, message, { member })
  }
}
