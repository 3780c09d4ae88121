import type { Failure } from './compare.ts'
import type { KnownFailures } from './knownFailures.ts'

/** A case with its verdict. A passing case that is listed as a known failure counts as failed. */
export interface Verdict {
  readonly file: string
  readonly name: string
  /** Description of the request. */
  readonly title: string
  readonly result: 'passed' | 'failed' | 'known'
  readonly failure?: Failure
}

const listed = 'known failure'

export function isListedAndPasses({ failure }: Verdict): boolean {
  return failure?.what === listed
}

export function verdictOf(
  known: KnownFailures,
  file: string,
  name: string,
  title: string,
  failure: Failure | undefined,
): Verdict {
  const reason = known.reason(file, name)
  if (failure === undefined && reason === undefined) return { file, name, title, result: 'passed' }
  if (failure !== undefined) {
    return { file, name, title, result: reason === undefined ? 'failed' : 'known', failure }
  }
  const unexpected = { what: listed, expected: `a failure, as listed: ${reason}`, got: 'passed' }
  return { file, name, title, result: 'failed', failure: unexpected }
}

/** Returns the line to print for a verdict; undefined if nothing is printed. */
export function printed(verdict: Verdict, isJson: boolean): string | undefined {
  const { file, name, title, result, failure } = verdict
  if (isJson) return JSON.stringify({ suite: 'rpc', file, case: name, result, ...failure, title })
  if (result !== 'failed' || failure === undefined) return undefined
  const { what, expected, got } = failure
  return `FAILED rpc/${file}: ${name} ${title}: ${what}\n    expected ${expected}\n    got      ${got}`
}
