import { fileURLToPath } from 'node:url'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { Transcripts } from '../../tests/conformance/transcript.ts'
import { table } from './table.ts'

const results = new Map(table.map(({ name, method }) => [name, method.result]))

/** Recorded results of the reference, which this node returns as well, by method. */
function recorded(): Map<string, unknown[]> {
  const transcripts = new Transcripts(fileURLToPath(new URL('../../../tests/vectors/rpc', import.meta.url)))
  const names = new Map(table.flatMap((spec) => [spec.name, spec.alias ?? []].flat().map((name) => [name, spec.name])))
  const found = new Map<string, unknown[]>()
  for (const { file } of transcripts.index.files) {
    for (const { kind, request, response, conformance } of transcripts.steps(file)) {
      const name = names.get((request as { method?: string } | undefined)?.method ?? '')
      const isShared = kind === 'rpc' && conformance?.product === undefined && conformance?.mayDiffer === undefined
      if (name === undefined || !isShared || !('result' in (response as object))) continue
      found.set(name, [...(found.get(name) ?? []), (response as { result: unknown }).result])
    }
  }
  return found
}

describe('recorded results have the described form', () => {
  test.each([...recorded()])('%s', (name, answers) => {
    const check = Compile(results.get(name) ?? {})
    for (const answer of answers) {
      expect([answer, [...check.Errors(answer)].map((error) => `${error.instancePath} ${error.message}`)]).toEqual([
        answer,
        [],
      ])
    }
  })
})
