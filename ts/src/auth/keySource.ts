import { type Accounting, burstOf } from './accounting.ts'
import type { App } from './app.ts'
import type { Keys } from './keyring.ts'
import type { Access } from './profile.ts'
import { type AppStore, StoreError } from './store.ts'

const refreshMs = 250

export interface KeySourceSettings {
  /** Keys of apps of other networks are unknown here. */
  readonly network: string
  /** Requests need no key, whatever the store contains. */
  readonly isOpen: boolean
  /** The node is reachable by other machines: without apps it is not open. */
  readonly needsApps?: boolean
  /** The node may start while the store is away. Requests with a key are refused until the store was read once. */
  readonly mayStartAway?: boolean
  /** Returns whether keys must not be relied on now, because the store is away. */
  readonly isWithheld?: () => boolean
}

/**
 * Reads the store in the main thread and sends the valid keys to the workers. Without apps, requests need no key, unless
 * other machines reach the node. Once an app exists, requests need a key, also if the store is emptied later.
 */
export class KeySource {
  readonly #store: AppStore
  readonly #settings: KeySourceSettings
  readonly #accounting: Pick<Accounting, 'open'>
  /** Undefined until the store was read. */
  #revision: string | undefined
  /** Active apps of this network. */
  #apps: readonly { readonly app: App; readonly access: Access }[] = []
  #hasApps = false
  #reads = 0
  #timer: NodeJS.Timeout | undefined
  #refresh: () => Promise<void> = () => Promise.resolve()

  private constructor(store: AppStore, settings: KeySourceSettings, accounting: Pick<Accounting, 'open'>) {
    this.#store = store
    this.#settings = settings
    this.#accounting = accounting
  }

  /** Reads the store. Throws StoreError: a node does not start with keys that it cannot read. */
  static async open(
    store: AppStore,
    settings: KeySourceSettings,
    accounting: Pick<Accounting, 'open'>,
  ): Promise<KeySource> {
    const source = new KeySource(store, settings, accounting)
    try {
      await source.#read(await store.revision())
    } catch (error) {
      if (!(settings.mayStartAway === true && error instanceof StoreError && error.isAway)) throw error
    }
    return source
  }

  /** Returns whether the store was ever read. */
  get hasRead(): boolean {
    return this.#revision !== undefined
  }

  /** Returns whether the store ever contained an app. */
  get hasApps(): boolean {
    return this.#hasApps
  }

  /** Returns the valid keys. */
  get keys(): Keys {
    const { needsApps, isWithheld } = this.#settings
    const isOpen = this.#settings.isOpen || (needsApps !== true && this.hasRead && !this.#hasApps)
    const now = Date.now()
    const keys = this.#apps.flatMap(({ app }, index) =>
      app.keys
        .filter(({ expiresAt }) => expiresAt === null || now < expiresAt)
        .map(({ hash, expiresAt }) => ({ hash, expiresAt, app: index })),
    )
    const apps = this.#apps.map(({ access }) => access)
    return { isOpen, isWithheld: !isOpen && (!this.hasRead || isWithheld?.() === true), apps, keys }
  }

  /** Starts to publish the keys whenever the store changes or a key expires. A store that cannot be read changes nothing; that is reported once. */
  watch(publish: (keys: Keys) => void, onProblem: (error: Error) => void): void {
    // Between two reads of the store, keys change only by expiry.
    const stateOf = ({ isOpen, isWithheld, keys }: Keys): string =>
      `${this.#reads} ${keys.length} ${isOpen} ${isWithheld}`
    let published = stateOf(this.keys)
    let problem = ''
    const refresh = async (): Promise<void> => {
      try {
        const revision = await this.#store.revision()
        if (revision !== this.#revision) await this.#read(revision)
        problem = ''
      } catch (error) {
        const { message } = error as Error
        if (message !== problem) onProblem(error as Error)
        problem = message
      }
      const { keys } = this
      const state = stateOf(keys)
      if (state !== published) publish(keys)
      published = state
    }
    // One refresh after the other: an older state must not be published after a more recent one.
    let last = Promise.resolve()
    this.#refresh = () => {
      last = last.then(refresh)
      return last
    }
    const again = async (): Promise<void> => {
      await this.#refresh()
      if (this.#timer !== undefined) this.#timer = setTimeout(again, refreshMs).unref()
    }
    this.#timer = setTimeout(again, refreshMs).unref()
  }

  /** Reads the store at once, after a change by this process. Resolves when the keys have been sent to the workers. */
  refresh(): Promise<void> {
    return this.#refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #read(revision: string): Promise<void> {
    const apps = await this.#store.read()
    const live = apps.filter((app) => app.revokedAt === null && app.network === this.#settings.network)
    const indexes = await this.#accounting.open(live)
    this.#apps = live.flatMap((app, index) => {
      const meterIndex = indexes[index]
      if (meterIndex === undefined) return []
      const { name, allow, jwt, limits } = app
      return [{ app, access: { name, meterIndex, allow, jwt, limits, burst: burstOf(limits) } }]
    })
    this.#hasApps ||= apps.length > 0
    this.#revision = revision
    this.#reads++
  }
}
