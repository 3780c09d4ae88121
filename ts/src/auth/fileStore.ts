import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { App } from './app.ts'
import { readApps, writeApps } from './appsDocument.ts'
import { type AppStore, StoreError } from './store.ts'
import { codeOf, isMissing, readWhole, replaceWhole } from './wholeFile.ts'

const lockTries = 40
const lockPauseMs = 50

/** Apps in one JSON file, replaced as a whole, readable by its owner only. */
export class FileStore implements AppStore {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  async revision(): Promise<string> {
    try {
      const { ino, size, mtimeNs } = await stat(this.#path, { bigint: true })
      return `${ino}.${size}.${mtimeNs}`
    } catch (error) {
      if (isMissing(error)) return 'none'
      throw new StoreError(`${this.#path}: cannot be read (${codeOf(error)})`)
    }
  }

  async read(): Promise<readonly App[]> {
    const text = await readWhole(this.#path)
    if (text === undefined) return []
    const { apps, problem } = readApps(text)
    if (apps === undefined) throw new StoreError(`${this.#path}: is damaged: ${problem}`)
    return apps
  }

  async change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T> {
    const lock = `${this.#path}.lock`
    try {
      await mkdir(dirname(this.#path), { recursive: true })
      await this.#lock(lock)
    } catch (error) {
      if (error instanceof StoreError) throw error
      throw new StoreError(`${lock}: cannot be written (${codeOf(error)})`)
    }
    try {
      const result = edit(await this.read())
      await replaceWhole(this.#path, writeApps(result.apps))
      return result
    } finally {
      await rm(lock, { force: true })
    }
  }

  async #lock(path: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await (await open(path, 'wx', 0o600)).close()
        return
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
        if (tries === lockTries)
          throw new StoreError(`${path}: locked by another command; if none is running, remove the file`)
      }
      await new Promise((resolve) => setTimeout(resolve, lockPauseMs))
    }
  }
}
