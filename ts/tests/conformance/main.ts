import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutPassed } from './knownFailures.ts'
import { Replay } from './replay.ts'
import { isListedAndPasses, printed } from './report.ts'

/**
 * Runs all transcripts of a folder and prints failures, or every case as JSON. Returns the totals. With `isForgetting`,
 * passing cases are removed from the list of known failures.
 */
export async function run(
  root: string,
  folder: string,
  isJson: boolean,
  isForgetting: boolean,
): Promise<Record<string, number>> {
  const totals = { passed: 0, failed: 0, known: 0 }
  const forgotten = new Set<string>()
  const replay = new Replay(root, folder)
  for (const group of replay.groups) {
    await replay.run(group, (verdict) => {
      if (isForgetting && isListedAndPasses(verdict)) {
        forgotten.add(`${verdict.file} ${verdict.name}`)
        totals.passed++
        return
      }
      totals[verdict.result]++
      const line = printed(verdict, isJson)
      if (line !== undefined) process.stdout.write(`${line}\n`)
    })
  }
  if (isForgetting) {
    const path = join(root, 'tests/vectors/known-failures.yaml')
    writeFileSync(
      path,
      withoutPassed(readFileSync(path, 'utf8'), (file, name) => forgotten.has(`${file} ${name}`)),
    )
  }
  return totals
}
