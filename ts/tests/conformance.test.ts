import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Replay } from './conformance/replay.ts'
import { printed } from './conformance/report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const timeoutMs = 120_000

// The same runner as `npm run conformance -- tests/vectors --suite rpc`.
describe('transcripts of the reference node', () => {
  const replay = new Replay(root, `${root}/tests/vectors/rpc`)

  test.each(replay.groups.map((group) => [group.entries.map(({ file }) => file).join(', '), group] as const))(
    '%s',
    async (_files, group) => {
      const failed: string[] = []
      let cases = 0
      await replay.run(group, (verdict) => {
        cases++
        const line = printed(verdict, false)
        if (line !== undefined) failed.push(line)
      })
      expect(failed.join('\n')).toBe('')
      expect(cases).toBeGreaterThan(0)
    },
    timeoutMs,
  )
})
