import type { App } from './app.ts'

/** Where apps are kept. The node only reads; commands change. */
export interface AppStore {
  /** Cheap to ask for; differs after each change. */
  revision(): Promise<string>
  /** Throws StoreError when what is kept cannot be trusted. */
  read(): Promise<readonly App[]>
  /** Replaces all apps by what `edit` makes of them: wholly or, when it throws, not at all. One at a time. */
  change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T>
}

/** The store cannot be read or written. The message never shows what is in it. */
export class StoreError extends Error {
  override name = 'StoreError'
}
