import { lastCommonBlock } from './commonChain.ts'
import { type Difference, differencesOf } from './differences.ts'
import type { Endpoint } from './endpoint.ts'
import type { Random } from './random.ts'
import { Sample } from './sample.ts'

/** Requests that are under way at once. */
const concurrency = 4

/** A request whose answers differ. */
export interface DifferingRequest {
  readonly method: string
  readonly params: readonly unknown[]
  readonly differences: readonly Difference[]
}

/** Result of a comparison. */
export interface Comparison {
  /** Number of the highest common block. */
  readonly last: number
  readonly requests: number
  /** Methods for which no object was found. */
  readonly withoutObjects: readonly string[]
}

/**
 * Sends random requests about the common chain of two nodes to both, and passes each whose answers differ to `onDifference`.
 * Answers that differ are asked for once more: the chains may have been reorganized between them.
 */
export async function compareNodes(
  own: Endpoint,
  reference: Endpoint,
  { methods, requests, random }: { methods: readonly string[]; requests: number; random: Random },
  onDifference: (request: DifferingRequest) => void,
  onRequest: (done: number) => void,
): Promise<Comparison> {
  const sample = new Sample(reference, await lastCommonBlock(own, reference), random)
  const withoutObjects = new Set<string>()
  let [started, done] = [0, 0]
  const runner = async (): Promise<void> => {
    while (started < requests) {
      const method = methods[started++ % methods.length] ?? ''
      if (withoutObjects.has(method)) continue
      const params = await sample.parameters(method)
      if (params === null) {
        withoutObjects.add(method)
        continue
      }
      let differences = await differencesBetween(method, params)
      if (differences.length > 0) differences = await differencesBetween(method, params)
      if (differences.length > 0) onDifference({ method, params, differences })
      onRequest(++done)
    }
  }
  const differencesBetween = async (method: string, params: readonly unknown[]): Promise<Difference[]> => {
    const [first, second] = await Promise.all([own.ask(method, params), reference.ask(method, params)])
    return differencesOf(method, first, second)
  }
  await Promise.all(Array.from({ length: concurrency }, runner))
  return { last: sample.last, requests: done, withoutObjects: [...withoutObjects] }
}
