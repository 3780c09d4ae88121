import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { StoreError } from '../../auth/store.ts'
import { readWhole, replaceWhole } from '../../auth/wholeFile.ts'
import { rangeNames, type SeriesRecord } from './series.ts'

const count = () => Type.Number({ minimum: 0 })
const milliseconds = () => Type.Union([count(), Type.Null()])
const closed = { additionalProperties: false }
const methods = Type.Record(
  Type.String(),
  Type.Object(
    {
      points: Type.Array(Type.Tuple([Type.Integer({ minimum: 0 }), count(), count(), milliseconds(), milliseconds()])),
      classes: Type.Array(count()),
    },
    closed,
  ),
)
const content = Type.Object(
  { version: Type.Literal(1), ranges: Type.Object({ hour: methods, day: methods, month: methods }, closed) },
  closed,
)
const check = Compile(content)

const appPrefix = 'app-'
const suffix = '.json'

/** Subject of a file: the node, or an app by its name. */
export type Subject = { readonly app: string } | 'node'

/** A folder with one file for the node and one for each app. */
export class FigureFiles {
  readonly #folder: string

  /** `folder` is created with the first file. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Reads the file of a subject; returns undefined if there is none. Throws StoreError if it is damaged or unreadable. */
  async read(subject: Subject): Promise<SeriesRecord | undefined> {
    const path = this.#pathOf(subject)
    const text = await readWhole(path)
    if (text === undefined) return undefined
    const read = parsed(text)
    if (read === undefined) throw new StoreError(`${path}: is damaged: expected figures as the node writes them`)
    return read.ranges as SeriesRecord
  }

  /** Replaces the file of a subject. Throws StoreError; the previous file is then intact. */
  write(subject: Subject, ranges: SeriesRecord): Promise<void> {
    return replaceWhole(this.#pathOf(subject), JSON.stringify({ version: 1, ranges }))
  }

  /** Removes the files of apps with the oldest write time until at most `maximum` are left. The folder must exist. */
  async keepAtMost(maximum: number): Promise<void> {
    const all = await readdir(this.#folder)
    const names = all.filter((name) => name.startsWith(appPrefix) && name.endsWith(suffix))
    if (names.length <= maximum) return
    const paths = names.map((name) => join(this.#folder, name))
    const dated = await Promise.all(paths.map(async (path) => ({ path, writtenMs: (await stat(path)).mtimeMs })))
    const surplus = dated.toSorted((one, other) => one.writtenMs - other.writtenMs).slice(0, names.length - maximum)
    for (const { path } of surplus) await rm(path, { force: true })
  }

  #pathOf(subject: Subject): string {
    return join(this.#folder, subject === 'node' ? `node${suffix}` : `${appPrefix}${subject.app}${suffix}`)
  }
}

function parsed(text: string): Static<typeof content> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return check.Check(value) && rangeNames.every((range) => isOrdered(value.ranges[range])) ? value : undefined
  } catch {
    return undefined
  }
}

function isOrdered(ofMethods: Static<typeof methods>): boolean {
  return Object.values(ofMethods).every(({ points }) =>
    points.every(([step], index) => index === 0 || step > (points[index - 1]?.[0] ?? 0)),
  )
}
