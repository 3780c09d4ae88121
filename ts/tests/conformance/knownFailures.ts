import { readFileSync } from 'node:fs'

/** An entry of tests/vectors/known-failures.yaml. The Rust suites have their own entries in the same file. */
interface Entry {
  readonly suite: string
  readonly file: string
  /** Steps: numbers and ranges, `1, 5-9`; or the name of another case. */
  readonly case: string
  readonly reason: string
}

/** Cases of the suite rpc that are expected to fail. */
export class KnownFailures {
  readonly #reasons = new Map<string, string>()

  constructor(path: string) {
    for (const { suite, file, case: cases, reason } of entriesOf(readFileSync(path, 'utf8'))) {
      if (suite !== 'rpc') continue
      for (const name of namesOf(cases)) this.#reasons.set(`${file} ${name}`, reason)
    }
  }

  /** Returns why a case is expected to fail; undefined if it is not. */
  reason(file: string, name: string): string | undefined {
    return this.#reasons.get(`${file} ${name}`)
  }
}

/** Returns the list without the passing cases; entries without cases are removed. */
export function withoutPassed(text: string, hasPassed: (file: string, name: string) => boolean): string {
  const entries = /^- suite: rpc\n {2}file: (\S+)\n {2}case: "(.*)"\n {2}reason: .*\n/gm
  return text.replace(entries, (entry, file: string, cases: string) => {
    const left = namesOf(cases).filter((name) => !hasPassed(file, name))
    return left.length === 0 ? '' : entry.replace(`case: "${cases}"`, `case: "${rangesOf(left)}"`)
  })
}

/** Reads the subset of YAML in this file: entries with four keys, values on one line, plain or in double quotes. */
function entriesOf(text: string): Entry[] {
  const entries: Record<string, string>[] = []
  for (const line of text.split('\n')) {
    const [, dash, key = '', value = ''] = /^(- |\s*)(\w+): "?(.*?)"?\s*$/.exec(line) ?? []
    if (dash === undefined || line.startsWith('#')) continue
    if (dash === '- ') entries.push({})
    const last = entries.at(-1)
    if (last !== undefined) last[key] = value
  }
  return entries as unknown as Entry[]
}

function namesOf(cases: string): string[] {
  if (!/^[\d, -]+$/.test(cases)) return [cases]
  return cases.split(',').flatMap((piece) => {
    const [first = Number.NaN, last = first] = piece.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_none, index) => String(first + index))
  })
}

function rangesOf(names: readonly string[]): string {
  const ranges: [first: string, last: string][] = []
  for (const name of names) {
    const last = ranges.at(-1)
    if (last !== undefined && Number(last[1]) + 1 === Number(name)) last[1] = name
    else ranges.push([name, name])
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(', ')
}
