import { randomUUID } from 'node:crypto'
import type { RedisRunner } from '../redis/connection.ts'
import type { App } from './app.ts'
import { readApps, writeApps } from './appsDocument.ts'
import { type AppStore, StoreError } from './store.ts'

/** One hash: `content` as the file has it, and `revision`, a random name for this content. */
const place = 'apps'
const changeTries = 20

/** Puts a content in the place of the one that was read; 0 when that is another one by now. */
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
    const revision = await this.#redis.run((redis) => redis.hget(place, 'revision'))
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
    throw new StoreError('Redis: others change apps all the time')
  }

  /** False when others were faster. */
  async #replace(revision: string, text: string): Promise<boolean> {
    const mine = randomUUID()
    try {
      return (await this.#redis.run((redis) => redis.eval(replace, 1, place, revision, mine, text))) === 1
    } catch (error) {
      // It may have been done, and only the answer was lost: a key that was made would be shown to nobody.
      const isDone = error instanceof StoreError && error.isAway && (await this.revision().catch(() => '')) === mine
      if (isDone) return true
      throw error
    }
  }

  async #content(): Promise<{ revision: string; apps: readonly App[] }> {
    const [revision, text] = await this.#redis.run((redis) => redis.hmget(place, 'revision', 'content'))
    if (revision == null && text == null) return { revision: '', apps: [] }
    const { apps, problem } = readApps(text ?? '')
    if (apps === undefined) throw new StoreError(`Redis: apps: is damaged: ${problem}`)
    return { revision: revision ?? '', apps }
  }
}
