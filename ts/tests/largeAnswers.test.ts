import { expect, test } from 'vitest'
import { loadAddon } from '../src/native/load.ts'
import { sharedText } from '../src/rpc/longAnswer.ts'
import { NodeProcess } from './node.ts'

test('a buffer is released only if no other object uses its memory', () => {
  const { releaseBuffers } = loadAddon()
  const memory = Buffer.alloc(100)
  const others = [memory.subarray(0, 99), sharedText('text'), Buffer.from('pooled')]
  releaseBuffers(others)
  expect(others.map(({ length }) => length)).toEqual([99, 4, 6])
  releaseBuffers([memory, memory])
  expect(memory.length).toBe(0)
  expect(() => releaseBuffers(['text' as unknown as Buffer])).toThrow()
})

test('behavior: large answers stay whole when earlier ones were released', async () => {
  const node = await NodeProcess.start()
  const batch = Array.from({ length: 20 }, (_none, id) => ({ jsonrpc: '2.0', id, method: 'rpc_discover' }))
  const document = await node.result('rpc_discover')
  const ask = async () => {
    const response = await fetch(node.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(batch),
    })
    return (await response.json()) as { result: unknown }[]
  }
  for (let round = 0; round < 3; round++) {
    const answers = (await Promise.all([ask(), ask()])).flat()
    for (const { result } of answers) expect(result).toEqual(document)
  }
  await node.stop()
})
