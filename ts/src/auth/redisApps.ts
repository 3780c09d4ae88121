import { randomUUID } from 'node:crypto'
import type { RedisRunner } from '../redis/connection.ts'
import { RedisError } from '../redis/error.ts'
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
    const revision = await this.#run((redis) => redis.hget(place, 'revision'))
    return revision ?? 'none'
  }

  async read(): Promise<readonly App[]> {
    return (await this.#content()).apps
  }

  async change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T> {
    for (let tries = 0; tries < changeTries; tries++) {
      const { revision, apps } = await this.#content()
      const result = edit(apps)
      const text = writeApps(result.apps)
      const replaced = await this.#run((redis) => redis.eval(replace, 1, place, revision, randomUUID(), text))
      if (replaced === 1) return result
    }
    throw new StoreError('Redis: others change apps all the time')
  }

  async #content(): Promise<{ revision: string; apps: readonly App[] }> {
    const [revision, text] = await this.#run((redis) => redis.hmget(place, 'revision', 'content'))
    if (revision == null && text == null) return { revision: '', apps: [] }
    const { apps, problem } = readApps(text ?? '')
    if (apps === undefined) throw new StoreError(`Redis: apps: is damaged: ${problem}`)
    return { revision: revision ?? '', apps }
  }

  #run: RedisRunner['run'] = async (work) => {
    try {
      return await this.#redis.run(work)
    } catch (error) {
      throw error instanceof RedisError ? new StoreError(error.message) : error
    }
  }
}
