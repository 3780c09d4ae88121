import { commonBlocks } from './commonChain.ts'
import { type Difference, differencesOf } from './differences.ts'
import type { Endpoint } from './endpoint.ts'
import { Random } from './random.ts'
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
  /** Numbers of the lowest and the highest block that were compared. */
  readonly first: number
  readonly last: number
  readonly requests: number
  /** Methods for which no object was found. */
  readonly withoutObjects: readonly string[]
}

/**
 * Sends random requests about the common chain of two nodes to both, and passes each whose answers differ to `onDifference`.
 * Answers that differ are asked for once more: the chains may have been reorganized between them. With the same `seed` and the same
 * common chain the requests are the same.
 */
export async function compareNodes(
  own: Endpoint,
  reference: Endpoint,
  { methods, requests, seed }: { methods: readonly string[]; requests: number; seed: number },
  onDifference: (request: DifferingRequest) => void,
  onRequest: (done: number) => void,
): Promise<Comparison> {
  const blocks = await commonBlocks(own, reference)
  const withoutObjects = new Set<string>()
  let [started, done] = [0, 0]
  const runner = async (): Promise<void> => {
    while (started < requests) {
      const index = started++
      const method = methods[index % methods.length] ?? ''
      if (withoutObjects.has(method)) continue
      // Each request has its own numbers: those of a common generator would depend on the order of the answers.
      const params = await new Sample(reference, blocks, new Random(seed + index)).parameters(method)
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
  return { ...blocks, requests: done, withoutObjects: [...withoutObjects] }
}
