import { randomInt } from 'node:crypto'
import { Command, InvalidArgumentError } from 'commander'
import { type Comparison, compareNodes, type DifferingRequest } from '../compare/compare.ts'
import { Endpoint } from '../compare/endpoint.ts'
import { comparedMethods } from '../compare/sample.ts'
import { ProgressBar } from './progressBar.ts'
import { wholeNumber } from './wholeNumber.ts'

/** Unknown differences that are printed; the others are counted. */
const printedDifferences = 50
/** Characters of a value that are printed. */
const printedCharacters = 160

interface CompareOptions {
  readonly with: string
  readonly url: string
  readonly key?: string
  readonly methods: readonly string[]
  readonly requests: number
  readonly seed: number
  readonly json?: boolean
}

export function compareCommand(): Command {
  return new Command('compare')
    .description(
      'Send random requests about the common chain to this node and to a reference node, and print differences',
    )
    .requiredOption('--with <url>', 'URL of the reference node', urlText)
    .option('--url <url>', 'URL of this node', urlText, 'http://127.0.0.1:4444')
    .option('--key <key>', 'API key for this node')
    .option('--methods <names>', 'methods, separated by commas (default: all that can be compared)', methodNames)
    .option('--requests <number>', 'number of requests', wholeNumber, 1000)
    .option('--seed <number>', 'makes the same requests as an earlier run about the same blocks', wholeNumber)
    .option('--json', 'print one line of JSON for each request whose answers differ, then the summary')
    .action(async (given: CompareOptions) => {
      const { methods = comparedMethods, requests, seed = randomInt(2 ** 32), json = false } = given
      const own = new Endpoint(given.url, given.key === undefined ? {} : { 'x-api-key': given.key })
      const bar = new ProgressBar(process.stderr, !json)
      const report = new Report(json)
      const work = compareNodes(
        own,
        new Endpoint(given.with),
        { methods, requests, seed },
        (request) => report.add(request),
        (done) => bar.show('comparing', done, requests, 'requests'),
      )
      const comparison = await work.finally(() => bar.end())
      report.end(comparison, seed)
      if (report.unknown > 0) process.exitCode = 1
    })
}

/** Prints differences, and counts them. */
class Report {
  /** Differences without a known reason. */
  unknown = 0
  readonly #isJson: boolean
  readonly #known = new Map<string, number>()

  constructor(isJson: boolean) {
    this.#isJson = isJson
  }

  add(request: DifferingRequest): void {
    if (this.#isJson) process.stdout.write(`${JSON.stringify(request)}\n`)
    for (const { path, own, reference, reason } of request.differences) {
      if (reason !== undefined) {
        this.#known.set(reason, (this.#known.get(reason) ?? 0) + 1)
        continue
      }
      this.unknown++
      if (this.#isJson || this.unknown > printedDifferences) continue
      const asked = `${request.method} ${shortened(request.params)}`
      process.stdout.write(`${asked}: ${path}: ${shortened(own)}, the reference has ${shortened(reference)}\n`)
    }
  }

  end({ first, last, requests, withoutObjects }: Comparison, seed: number): void {
    if (this.#isJson) {
      const known = Object.fromEntries(this.#known)
      const summary = { requests, first, last, seed, differences: this.unknown, known, withoutObjects }
      process.stdout.write(`${JSON.stringify(summary)}\n`)
      return
    }
    const more = this.unknown - printedDifferences
    if (more > 0) process.stdout.write(`and ${more} more\n`)
    for (const [reason, count] of this.#known) process.stdout.write(`known, ${count} times: ${reason}\n`)
    for (const method of withoutObjects)
      process.stdout.write(`not compared: ${method}: the sampled blocks have nothing to ask for\n`)
    const counted = `${this.unknown} ${this.unknown === 1 ? 'difference' : 'differences'}`
    process.stdout.write(`${requests} requests about blocks ${first} to ${last} (seed ${seed}): ${counted}\n`)
  }
}

function shortened(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > printedCharacters ? `${text.slice(0, printedCharacters)}…` : text
}

function urlText(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new InvalidArgumentError('expected an http or https URL.')
}

function methodNames(text: string): readonly string[] {
  const names = text.split(',')
  const unknown = names.find((name) => !comparedMethods.includes(name))
  if (unknown === undefined) return names
  throw new InvalidArgumentError(`${unknown} cannot be compared; known are ${comparedMethods.join(', ')}.`)
}
