import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type App, appSchema } from './app.ts'
import { type AppStore, StoreError } from './store.ts'

const check = Compile(
  Type.Object({ version: Type.Literal(1), apps: Type.Array(appSchema) }, { additionalProperties: false }),
)
const lockTries = 40
const lockPauseMs = 50

/** The embedded store: one JSON file, replaced as a whole, readable by its owner alone. */
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
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return []
      throw new StoreError(`${this.#path}: cannot be read (${codeOf(error)})`)
    }
    const content = parsed(text)
    if (!check.Check(content))
      throw new StoreError(`${this.#path}: is damaged: expected apps as rhizome keys writes them`)
    const { apps } = content
    if (new Set(apps.map(({ name }) => name)).size < apps.length) {
      throw new StoreError(`${this.#path}: is damaged: two apps have the same name`)
    }
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
      await this.#write(result.apps)
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
          throw new StoreError(`${path}: another command changes keys; if none does, remove the file`)
      }
      await new Promise((resolve) => setTimeout(resolve, lockPauseMs))
    }
  }

  /** On disk before it is in place: a crash leaves the old file or the new one. */
  async #write(apps: readonly App[]): Promise<void> {
    const fresh = `${this.#path}.new`
    try {
      await rm(fresh, { force: true })
      const file = await open(fresh, 'wx', 0o600)
      try {
        await file.writeFile(`${JSON.stringify({ version: 1, apps }, undefined, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(fresh, this.#path)
    } catch (error) {
      throw new StoreError(`${this.#path}: cannot be written (${codeOf(error)})`)
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}
