import type { App } from './app.ts'
import type { Keys } from './keyring.ts'
import type { AppStore } from './store.ts'

const lookMs = 250

export interface KeySourceSettings {
  /** Apps of other networks are strangers here. */
  readonly network: string
  /** Nobody is asked for a key, whatever the store holds. */
  readonly isOpen: boolean
}

/**
 * The main thread's side: reads the store, tells the workers which keys are good. Without any app nobody is asked for a
 * key; from the first one on everybody is, also when the store is emptied later.
 */
export class KeySource {
  readonly #store: AppStore
  readonly #settings: KeySourceSettings
  #revision = ''
  #apps: readonly App[] = []
  #hasApps = false
  #timer: NodeJS.Timeout | undefined
  #look: () => Promise<void> = () => Promise.resolve()

  private constructor(store: AppStore, settings: KeySourceSettings) {
    this.#store = store
    this.#settings = settings
  }

  /** Throws StoreError: a node does not start with keys that it cannot read. */
  static async open(store: AppStore, settings: KeySourceSettings): Promise<KeySource> {
    const source = new KeySource(store, settings)
    await source.#read(await store.revision())
    return source
  }

  /** Whether an app was ever seen. */
  get hasApps(): boolean {
    return this.#hasApps
  }

  /** The keys that are good now. */
  get keys(): Keys {
    const { network, isOpen } = this.#settings
    const now = Date.now()
    const keys = this.#apps
      .filter((app) => app.revokedAt === null && app.network === network)
      .flatMap((app) => app.keys.filter(({ expiresAt }) => expiresAt === null || now < expiresAt))
      .map(({ hash, expiresAt }) => ({ hash, expiresAt }))
    return { isOpen: isOpen || !this.#hasApps, keys }
  }

  /** Looks for changes and for keys that expire. A store that cannot be read changes nothing; that is reported once. */
  watch(publish: (keys: Keys) => void, onProblem: (error: Error) => void): void {
    let published = JSON.stringify(this.keys)
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
      const text = JSON.stringify(keys)
      if (text !== published) publish(keys)
      published = text
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
    this.#apps = apps
    this.#hasApps ||= apps.length > 0
    this.#revision = revision
  }
}
