import { MemoryRates } from './bucket.ts'
import { FileStore } from './fileStore.ts'
import type { AppStore, RateStore, ServiceStore, UsageStore } from './store.ts'
import { readUsage, UsageFile } from './usageFile.ts'

/** Where a node that shares with nobody keeps what it must remember; null: nowhere. */
export interface StorePaths {
  readonly apps: string | null
  readonly usage: string | null
}

const noApps: AppStore = {
  revision: () => Promise.resolve('none'),
  read: () => Promise.resolve([]),
  change: () => Promise.reject(new TypeError('there is no file to keep apps in')),
}

/** Files beside the chain. */
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

  /** For the node, which is the only one to count. Throws StoreError. */
  static async open({ apps, usage }: StorePaths, onProblem: (error: Error) => void): Promise<EmbeddedStore> {
    const file = await UsageFile.open(usage, onProblem)
    return new EmbeddedStore(apps, file, () => file.close())
  }

  /** For commands beside a running node: what it has counted is read when somebody asks. */
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
