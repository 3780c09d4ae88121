import { MemoryRates } from './bucket.ts'
import { FileStore } from './fileStore.ts'
import type { AppStore, RateStore, ServiceStore, UsageStore } from './store.ts'
import { readUsage, UsageFile } from './usageFile.ts'

/** Files of a node without a shared store; null: not stored. */
export interface StorePaths {
  readonly apps: string | null
  readonly usage: string | null
}

const noApps: AppStore = {
  revision: () => Promise.resolve('none'),
  read: () => Promise.resolve([]),
  change: () => Promise.reject(new TypeError('there is no file for apps')),
}

/** The state of the service in files beside the chain. */
export class EmbeddedStore implements ServiceStore {
  readonly apps: AppStore
  readonly usage: UsageStore
  readonly rates: RateStore = new MemoryRates()

  readonly #close: () => Promise<void>

  private constructor(apps: string | null, usage: UsageStore, close: () => Promise<void>) {
    this.apps = apps === null ? noApps : new FileStore(apps)
    this.usage = usage
    this.#close = close
  }

  /** Opens the store for the node, the only writer of usage. Throws StoreError. */
  static async open({ apps, usage }: StorePaths, onProblem: (error: Error) => void): Promise<EmbeddedStore> {
    const file = await UsageFile.open(usage, onProblem)
    return new EmbeddedStore(apps, file, () => file.close())
  }

  /** Opens the store for a command beside a running node: it can change apps and reads the usage that the node has written. */
  static beside({ apps, usage }: StorePaths): EmbeddedStore {
    const counted: UsageStore = {
      add: () => Promise.reject(new TypeError('only the node counts')),
      report: () => (usage === null ? Promise.resolve([]) : readUsage(usage)),
    }
    return new EmbeddedStore(apps, counted, () => Promise.resolve())
  }

  close(): Promise<void> {
    return this.#close()
  }
}
