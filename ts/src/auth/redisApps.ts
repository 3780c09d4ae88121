import { randomUUID } from 'node:crypto'
import type { RedisRunner } from '../redis/connection.ts'
import type { App } from './app.ts'
import { readApps, writeApps } from './appsDocument.ts'
import { type AppStore, StoreError } from './store.ts'

/** A Redis hash with `content`, the same document as the file, and `revision`, a random name of this content. */
const appsKey = 'apps'
const changeTries = 20

/** Replaces the content. Returns 0, and changes nothing, if the stored revision has changed since it was read. */
const replace = `
if (redis.call('HGET', KEYS[1], 'revision') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'content', ARGV[3])
return 1`

/** Apps in Redis: several nodes, and commands on any machine, share them. */
export class RedisApps implements AppStore {
  readonly #redis: RedisRunner

  constructor(redis: RedisRunner) {
    this.#redis = redis
  }

  async revision(): Promise<string> {
    const revision = await this.#redis.run((redis) => redis.hget(appsKey, 'revision'))
    return revision ?? 'none'
  }

  async read(): Promise<readonly App[]> {
    return (await this.#content()).apps
  }

  async change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T> {
    for (let tries = 0; tries < changeTries; tries++) {
      const { revision, apps } = await this.#content()
      const result = edit(apps)
      if (await this.#replace(revision, writeApps(result.apps))) return result
    }
    throw new StoreError(`Redis: the apps were changed by others ${changeTries} times in a row; try again`)
  }

  /** Writes a new content; returns false if the apps were changed meanwhile. */
  async #replace(revision: string, text: string): Promise<boolean> {
    const mine = randomUUID()
    try {
      return (await this.#redis.run((redis) => redis.eval(replace, 1, appsKey, revision, mine, text))) === 1
    } catch (error) {
      // The change may be stored and only the answer lost. Without this check a new key would never be shown.
      const isDone = error instanceof StoreError && error.isAway && (await this.revision().catch(() => '')) === mine
      if (isDone) return true
      throw error
    }
  }

  async #content(): Promise<{ revision: string; apps: readonly App[] }> {
    const [revision, text] = await this.#redis.run((redis) => redis.hmget(appsKey, 'revision', 'content'))
    if (revision == null && text == null) return { revision: '', apps: [] }
    const { apps, problem } = readApps(text ?? '')
    if (apps === undefined) throw new StoreError(`Redis: apps: is damaged: ${problem}`)
    return { revision: revision ?? '', apps }
  }
}
