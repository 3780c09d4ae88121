import { randomInt } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { Random } from '../src/compare/random.ts'
import { scratchFolder } from './node.ts'
import type { Torture, TortureCase } from './tortureCase.ts'

// Runs a minute of each case of the folder `torture` but those on request, all at the same time, because most of them wait for
// processes. For longer runs, single cases or a given seed: `npm run torture`.

const minute = 60_000
const folder = new URL('torture/', import.meta.url)
const only = process.env.TORTURE_ONLY?.split(',')
/** Cases that run on request only. A fleet needs the machine for itself: its balancer takes nodes out that are slow. */
const onRequest = ['fleet']
const minutes = Number(process.env.TORTURE_MINUTES ?? 1)
/** Rounds of each case; replaces the minutes. */
const rounds = process.env.TORTURE_ROUNDS === undefined ? undefined : Number(process.env.TORTURE_ROUNDS)
const firstSeed = Number(process.env.TORTURE_SEED ?? randomInt(1, 10 ** 9))

const files = new Map(readdirSync(folder).map((file) => [file.replace(/\.\w+$/, ''), new URL(file, folder)]))
// A round continues for some time after the minutes are over.
const timeout = rounds === undefined ? (minutes + 10) * minute : 0
/** Cases that can run, and why others cannot. */
const ready = new Map<string, Torture | string>()

// Prepared one after the other before the time starts, because a case may need a build.
beforeAll(async () => {
  for (const [name, file] of files) {
    if (!isWanted(name)) continue
    const { torture } = (await import(fileURLToPath(file))) as { torture: TortureCase }
    ready.set(name, torture.obstacle?.() ?? (await torture.prepare(scratchFolder())))
  }
}, 10 * minute)
afterAll(async () => {
  for (const one of ready.values()) if (typeof one !== 'string') await one.end?.()
})

describe('torture', { timeout, concurrent: true }, () => {
  for (const name of [...files.keys()].filter(isWanted)) {
    test(`behavior: ${name}`, async (context) => {
      const one = ready.get(name)
      if (one === undefined || typeof one === 'string') return context.skip(one)
      await run(name, one)
    })
  }
})

/** Runs rounds with consecutive seeds until the time is over or the number of rounds is reached. */
async function run(name: string, { round }: Torture): Promise<void> {
  const end = Date.now() + minutes * minute
  let seed = firstSeed
  do {
    const folder = scratchFolder()
    try {
      await round({ random: new Random(seed), folder, timeMs: end - Date.now() })
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
      const replay = `npm run torture -- --only ${name} --rounds 1 --seed ${seed}`
      process.stderr.write(`${reason}\n${replay}\nThe files of the round: ${folder}\n`)
      throw error
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    seed++
  } while (rounds === undefined ? Date.now() < end : seed < firstSeed + rounds)
  process.stdout.write(`torture: ${name}: ${seed - firstSeed} rounds, seeds ${firstSeed} to ${seed - 1}\n`)
}

function isWanted(name: string): boolean {
  return only?.includes(name) ?? !onRequest.includes(name)
}
