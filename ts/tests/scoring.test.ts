import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NodeProcess, scratchFolder } from './node.ts'

test('behavior: bans outlive a restart', async () => {
  const flags = ['--data-dir', join(scratchFolder(), 'data')]
  const first = await NodeProcess.start(flags)
  for (const address of ['203.0.113.7', '2001:db8::/64', '198.51.100.0/24', '203.0.113.7']) {
    expect(await first.result('sco_banAddress', [address])).toBeNull()
  }
  expect(await first.result('sco_unbanAddress', ['198.51.100.0/24'])).toBeNull()
  await first.stop()

  const second = await NodeProcess.start(flags)
  expect(await second.result('sco_bannedAddresses')).toEqual(['203.0.113.7', '2001:db8:0:0:0:0:0:0/64'])
  await second.stop()
})

test('behavior: without peers there are no scores', async () => {
  const node = await NodeProcess.start()
  expect(await node.result('sco_peerList')).toEqual([])
  expect(await node.result('sco_reputationSummary')).toMatchObject({ count: 0, peersTotalScore: 0 })
  expect(await node.result('sco_clearPeerScoring', ['203.0.113.7'])).toEqual([])
  expect(await node.result('debug_wireProtocolQueueSize')).toBe('0x0')
  await node.stop()
})

test('error: addresses that cannot be banned', async () => {
  const node = await NodeProcess.start()
  for (const address of ['127.0.0.1', '::1', 'localhost', '203.0.113.5/99', '', 7, null]) {
    expect((await node.ask('sco_banAddress', [address])).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('invalid banned address'),
    })
  }
  expect((await node.ask('sco_clearPeerScoring', ['zz'])).error).toMatchObject({ code: -32602 })
  await node.stop()
})
