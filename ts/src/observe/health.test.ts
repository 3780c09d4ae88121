import { describe, expect, test } from 'vitest'
import { judgeHealth } from './health.ts'

const figures = { number: 90, hash: '0xab', timestamp: 1000, highestBlock: 100, store: { isWriteStopped: false } }
const unlimited = { maxHeadAgeSeconds: 0, maxLagBlocks: 0 }
const judged = (...parameters: Parameters<typeof judgeHealth>) => {
  const { isReady, body } = judgeHealth(...parameters)
  return { isReady, ...(JSON.parse(body) as { reasons: string[] }) }
}

describe('judgeHealth', () => {
  test('behavior: without limits an open node is ready, however old its head', () => {
    expect(judged(figures, unlimited, 1_500_000, false)).toEqual({
      isReady: true,
      live: true,
      ready: true,
      head: { number: 90, hash: '0xab', ageSeconds: 500 },
      lagBlocks: 10,
      reasons: [],
    })
  })

  test('behavior: a limit that is just kept, and one that is passed', () => {
    expect(judged(figures, { maxHeadAgeSeconds: 500, maxLagBlocks: 10 }, 1_500_000, false).isReady).toBe(true)
    const late = judged(figures, { maxHeadAgeSeconds: 499, maxLagBlocks: 9 }, 1_500_000, false)
    expect(late.isReady).toBe(false)
    expect(late.reasons).toEqual([
      'the head is 500 s old; at most 499 s are allowed',
      'the head is 10 blocks behind the highest block; at most 9 are allowed',
    ])
  })

  test('behavior: a block of the near future is not of negative age', () => {
    expect(judged(figures, unlimited, 900_000, false)).toMatchObject({ head: { ageSeconds: 0 } })
  })

  test('behavior: closed, ending, and a database that takes no writes', () => {
    expect(judged(undefined, unlimited, 0, false)).toMatchObject({
      isReady: false,
      live: true,
      head: null,
      lagBlocks: null,
      reasons: ['the chain is not open'],
    })
    expect(judged(figures, unlimited, 0, true).reasons).toEqual(['the node is shutting down'])
    expect(judged({ ...figures, store: { isWriteStopped: true } }, unlimited, 0, false).isReady).toBe(false)
  })
})
