import { type Accounting, burstOf } from './accounting.ts'
import type { App } from './app.ts'
import type { Keys } from './keyring.ts'
import type { Access } from './profile.ts'
import { type AppStore, StoreError } from './store.ts'

const lookMs = 250

export interface KeySourceSettings {
  /** Apps of other networks are strangers here. */
  readonly network: string
  /** Nobody is asked for a key, whatever the store holds. */
  readonly isOpen: boolean
  /** Others reach this node: that there is no app does not open it. */
  readonly needsApps?: boolean
  /** Starting is allowed while the store is away: nobody with a key is let in before it was read once. */
  readonly mayStartAway?: boolean
  /** Whether keys may not be relied on now, for the store is away. */
  readonly isWithheld?: () => boolean
}

/**
 * The main thread's side: reads the store, tells the workers which keys are good. Without any app nobody is asked for a
 * key, unless others reach the node; from the first one on everybody is, also when the store is emptied later.
 */
export class KeySource {
  readonly #store: AppStore
  readonly #settings: KeySourceSettings
  readonly #accounting: Pick<Accounting, 'open'>
  /** Undefined until the store was read. */
  #revision: string | undefined
  /** Those that may call here, and what the workers have to know of them. */
  #apps: readonly { readonly app: App; readonly access: Access }[] = []
  #hasApps = false
  #reads = 0
  #timer: NodeJS.Timeout | undefined
  #look: () => Promise<void> = () => Promise.resolve()

  private constructor(store: AppStore, settings: KeySourceSettings, accounting: Pick<Accounting, 'open'>) {
    this.#store = store
    this.#settings = settings
    this.#accounting = accounting
  }

  /** Throws StoreError: a node does not start with keys that it cannot read. */
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

  /** Whether the store was ever read. */
  get hasRead(): boolean {
    return this.#revision !== undefined
  }

  /** Whether an app was ever seen. */
  get hasApps(): boolean {
    return this.#hasApps
  }

  /** The keys that are good now. */
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

  /** Looks for changes and for keys that expire. A store that cannot be read changes nothing; that is reported once. */
  watch(publish: (keys: Keys) => void, onProblem: (error: Error) => void): void {
    // What was read once only changes by keys that expire.
    const stateOf = ({ isOpen, isWithheld, keys }: Keys): string =>
      `${this.#reads} ${keys.length} ${isOpen} ${isWithheld}`
    let published = stateOf(this.keys)
    let problem = ''
    const look = async (): Promise<void> => {
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
    // One after the other: what was read first must not be told last.
    let last = Promise.resolve()
    this.#look = () => {
      last = last.then(look)
      return last
    }
    const again = async (): Promise<void> => {
      await this.#look()
      if (this.#timer !== undefined) this.#timer = setTimeout(again, lookMs).unref()
    }
    this.#timer = setTimeout(again, lookMs).unref()
  }

  /** Looks now: for who has just changed the store. Resolves when the workers have been told. */
  look(): Promise<void> {
    return this.#look()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #read(revision: string): Promise<void> {
    const apps = await this.#store.read()
    const live = apps.filter((app) => app.revokedAt === null && app.network === this.#settings.network)
    const places = await this.#accounting.open(live)
    this.#apps = live.flatMap((app, index) => {
      const place = places[index]
      if (place === undefined) return []
      const { name, allow, jwt, limits } = app
      return [{ app, access: { name, place, allow, jwt, limits, burst: burstOf(limits) } }]
    })
    this.#hasApps ||= apps.length > 0
    this.#revision = revision
    this.#reads++
  }
}
