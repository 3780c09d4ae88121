import { existsSync, renameSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { jsonIn } from '../rpc/jsonText.ts'
import { type AppUsage, StoreError, type Usage, type UsageReport, type UsageStore, type UsedUnits } from './store.ts'
import { dayOf, keptDays, keptMonths, monthOf, noUsage, usageCounts } from './usage.ts'
import { readWhole, replaceWhole } from './wholeFile.ts'

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

type StoredUsage = Static<typeof report>

const writeMs = 1000

/** Usage in memory and in a JSON file that is at most a second behind. Without a path in memory only. */
export class UsageFile implements UsageStore {
  readonly #path: string | null
  readonly #apps: Map<string, StoredUsage>
  readonly #onProblem: (error: Error) => void
  #isDirty = false
  #problem = ''
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  private constructor(path: string | null, apps: readonly StoredUsage[], onProblem: (error: Error) => void) {
    this.#path = path
    this.#apps = new Map(apps.map((one) => [one.app, one]))
    this.#onProblem = onProblem
  }

  /** Reads the file. A damaged file is renamed and reported, and counting begins at zero. */
  static async open(path: string | null, onProblem: (error: Error) => void): Promise<UsageFile> {
    try {
      return new UsageFile(path, path === null ? [] : await readUsage(path), onProblem)
    } catch (error) {
      if (!(error instanceof StoreError) || path === null || !existsSync(path)) throw error
      const aside = `${path}.damaged-${Date.now()}`
      renameSync(path, aside)
      onProblem(new StoreError(`${error.message}; renamed to ${aside}, usage is counted from zero`))
      return new UsageFile(path, [], onProblem)
    }
  }

  add(counted: readonly AppUsage[], now: number): Promise<readonly UsedUnits[]> {
    const [day, month] = [dayOf(now), monthOf(now)]
    const used = counted.map((one) => {
      const isNothing = usageCounts.every((name) => one[name] === 0)
      const kept = this.#apps.get(one.app)
      if (isNothing) return { day: kept?.days[day]?.units ?? 0, month: kept?.months[month]?.units ?? 0 }
      this.#isDirty = true
      const counts = kept ?? { app: one.app, days: {}, months: {} }
      this.#apps.set(one.app, counts)
      return {
        day: addTo(counts.days, day, one, keptDays),
        month: addTo(counts.months, month, one, keptMonths),
      }
    })
    if (this.#isDirty) this.#writeSoon()
    return Promise.resolve(used)
  }

  report(): Promise<readonly UsageReport[]> {
    return Promise.resolve(structuredClone([...this.#apps.values()]))
  }

  /** Writes unwritten changes. */
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
        await replaceWhole(this.#path, `${JSON.stringify({ version: 1, apps: [...this.#apps.values()] })}\n`)
        this.#problem = ''
      } catch (error) {
        this.#isDirty = true
        this.#report(error as StoreError)
      }
    })
    return this.#writing
  }

  /** Reports a problem once, however often it is repeated. */
  #report(error: StoreError): void {
    if (error.message !== this.#problem) this.#onProblem(error)
    this.#problem = error.message
  }
}

/** Reads the usage that a node has written; empty if there is no file. Throws StoreError. */
export async function readUsage(path: string): Promise<StoredUsage[]> {
  const text = await readWhole(path)
  if (text === undefined) return []
  const read = jsonIn(text)
  if (!content.Check(read)) throw new StoreError(`${path}: is damaged: expected usage as the node writes it`)
  return read.apps
}

/** Adds usage to a period, drops the oldest periods beyond `maxPeriods`, and returns the units of the period. */
function addTo(periods: StoredUsage['days'], name: string, more: Usage, maxPeriods: number): number {
  const sum = { ...(periods[name] ?? noUsage) }
  for (const count of usageCounts) sum[count] += more[count]
  periods[name] = sum
  const names = Object.keys(periods)
  if (names.length > maxPeriods) {
    for (const old of names.sort().slice(0, names.length - maxPeriods)) delete periods[old]
  }
  return sum.units
}
