import { existsSync, renameSync } from 'node:fs'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type AppUsage, StoreError, type UsageReport, type UsageStore, type UsedUnits } from './store.ts'

const count = () => Type.Number({ minimum: 0 })
const closed = { additionalProperties: false }
const usage = Type.Object({ requests: count(), units: count(), errors: count(), refused: count() }, closed)
const report = Type.Object(
  {
    app: Type.String(),
    days: Type.Record(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), usage, closed),
    months: Type.Record(Type.String({ pattern: '^\\d{4}-\\d{2}$' }), usage, closed),
  },
  closed,
)
const content = Compile(Type.Object({ version: Type.Literal(1), apps: Type.Array(report) }, closed))

type Kept = Static<typeof report>

const daysKept = 62
const monthsKept = 24
const writeMs = 1000

/** The embedded counts of usage: in memory, and in a JSON file that is at most a second behind. Without a path in memory only. */
export class UsageFile implements UsageStore {
  readonly #path: string | null
  readonly #apps: Map<string, Kept>
  readonly #onProblem: (error: Error) => void
  #isDirty = false
  #problem = ''
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  private constructor(path: string | null, apps: readonly Kept[], onProblem: (error: Error) => void) {
    this.#path = path
    this.#apps = new Map(apps.map((one) => [one.app, one]))
    this.#onProblem = onProblem
  }

  /** A file that cannot be read is kept aside under another name, and counting begins anew: that is reported. */
  static async open(path: string | null, onProblem: (error: Error) => void): Promise<UsageFile> {
    try {
      return new UsageFile(path, path === null ? [] : await readUsage(path), onProblem)
    } catch (error) {
      if (!(error instanceof StoreError) || path === null || !existsSync(path)) throw error
      const aside = `${path}.damaged-${Date.now()}`
      renameSync(path, aside)
      onProblem(new StoreError(`${error.message}; it is kept as ${aside}, and usage is counted from zero`))
      return new UsageFile(path, [], onProblem)
    }
  }

  add(counted: readonly AppUsage[], now: number): Promise<readonly UsedUnits[]> {
    const day = new Date(now).toISOString().slice(0, 10)
    const month = day.slice(0, 7)
    const used = counted.map((one) => {
      const isNothing = one.requests + one.units + one.errors + one.refused === 0
      const kept = this.#apps.get(one.app)
      if (isNothing) return { day: kept?.days[day]?.units ?? 0, month: kept?.months[month]?.units ?? 0 }
      this.#isDirty = true
      const counts = kept ?? { app: one.app, days: {}, months: {} }
      this.#apps.set(one.app, counts)
      return {
        day: addTo(counts.days, day, one, daysKept),
        month: addTo(counts.months, month, one, monthsKept),
      }
    })
    if (this.#isDirty) this.#writeSoon()
    return Promise.resolve(used)
  }

  report(): Promise<readonly UsageReport[]> {
    return Promise.resolve(structuredClone([...this.#apps.values()]))
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#write()
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, writeMs).unref()
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      if (this.#path === null || !this.#isDirty) return
      this.#isDirty = false
      try {
        await replaceFile(this.#path, `${JSON.stringify({ version: 1, apps: [...this.#apps.values()] })}\n`)
        this.#problem = ''
      } catch (error) {
        this.#isDirty = true
        this.#report((error as NodeJS.ErrnoException).code ?? 'unknown')
      }
    })
    return this.#writing
  }

  /** Each problem once, however often it comes. */
  #report(reason: string): void {
    if (reason !== this.#problem) this.#onProblem(new StoreError(`${this.#path}: cannot be written (${reason})`))
    this.#problem = reason
  }
}

/** What a node has written; nothing when there is no file. Throws StoreError. */
export async function readUsage(path: string): Promise<Kept[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new StoreError(`${path}: cannot be read (${code ?? 'unknown'})`)
  }
  const read = parsed(text)
  if (!content.Check(read)) throw new StoreError(`${path}: is damaged: expected usage as the node writes it`)
  return read.apps
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Adds to a period and forgets the oldest ones; the units of the period. */
function addTo(periods: Kept['days'], name: string, { requests, units, errors, refused }: AppUsage, most: number) {
  const before = periods[name] ?? { requests: 0, units: 0, errors: 0, refused: 0 }
  periods[name] = {
    requests: before.requests + requests,
    units: before.units + units,
    errors: before.errors + errors,
    refused: before.refused + refused,
  }
  const names = Object.keys(periods)
  if (names.length > most) for (const old of names.sort().slice(0, names.length - most)) delete periods[old]
  return periods[name].units
}

/** On disk before it is in place: a crash leaves the old file or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const fresh = `${path}.new`
  const file = await open(fresh, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path)
}
