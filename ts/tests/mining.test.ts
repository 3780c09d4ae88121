import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const other = '0x00000000000000000000000000000000000000fe'
const best = result('IMPORTED_BEST')

interface Work {
  readonly blockHashForMergedMining: string
  readonly target: string
  readonly feesPaidToMiner: string
  readonly notify: boolean
  readonly parentBlockHash: string
}
interface Submitted {
  readonly blockImportedResult: string
  readonly blockHash: string
  readonly blockIncludedHeight: string
}

describe('a miner outside', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start(['--mining', 'off', '--workers', '1'])
  })
  afterAll(() => node?.stop())
  const work = () => node.result<Work>('mnr_getWork')
  const head = () => node.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const submit = (block: string) => node.result<Submitted>('mnr_submitBitcoinBlock', [block])

  test('behavior: a transaction gets into a block by merged mining', async () => {
    const empty = await work()
    expect(empty).toMatchObject({ target: `0x${'5'.repeat(64)}`, feesPaidToMiner: '0', notify: true })
    expect((await work()).notify).toBe(false)
    const sent = { from: first, to: other, value: '0x64', gas: '0x5208', gasPrice: '0x3b9aca00' }
    const hash = await node.result('eth_sendTransaction', [sent])
    const full = await work()
    expect(full).toMatchObject({ feesPaidToMiner: '21000000000000', notify: true })
    expect(await node.result('eth_getWork')).toEqual([
      full.blockHashForMergedMining,
      `0x${'0'.repeat(64)}`,
      full.target,
    ])

    const { block, header, coinbase } = mine(full)
    const submitted = await submit(block)
    expect(submitted).toMatchObject({ blockImportedResult: best, blockIncludedHeight: '0x1' })
    const mined = await node.result<Record<string, unknown>>('eth_getBlockByNumber', ['latest', false])
    expect(mined).toMatchObject({
      hash: submitted.blockHash,
      parentHash: full.parentBlockHash,
      hashForMergedMining: full.blockHashForMergedMining,
      bitcoinMergedMiningHeader: `0x${header}`,
      bitcoinMergedMiningMerkleProof: '0x',
    })
    expect(String(mined.bitcoinMergedMiningCoinbaseTransaction)).toContain(coinbase.slice(-100))
    expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1', blockNumber: '0x1' })
    expect((await submit(block)).blockImportedResult).toBe(result('EXIST'))
  })

  test('behavior: a second solution becomes an uncle', async () => {
    const shared = await work()
    expect((await submit(mine(shared, 1).block)).blockImportedResult).toBe(best)
    const sibling = await submit(mine(shared, 2).block)
    expect(sibling.blockImportedResult).toBe(result('IMPORTED_NOT_BEST'))
    await node.result('evm_stopMining')
    await node.result('evm_startMining')
    expect((await submit(mine(await work()).block)).blockImportedResult).toBe(best)
    expect(await node.result('eth_getBlockByNumber', ['latest'])).toMatchObject({ uncles: [sibling.blockHash] })
  })

  test('behavior: solutions in parts', async () => {
    const id = sha256d(Buffer.from('another transaction'))
    const whole = mine(await work(), 0, id)
    const ids = [whole.id, id].map((one) => Buffer.from(one).reverse().toString('hex')).join(' ')
    const parts = ['0x00', whole.header, whole.coinbase]
    const submitted = await node.result<Submitted>('mnr_submitBitcoinBlockTransactions', [...parts, ids])
    expect(submitted.blockImportedResult).toBe(best)

    const next = mine(await work(), 0, id)
    const branch = `${next.id.toString('hex')} ${id.toString('hex')}`
    const again = ['0x00', next.header, next.coinbase, branch, '2']
    const last = await node.result<Submitted>('mnr_submitBitcoinBlockPartialMerkle', again)
    expect(last.blockImportedResult).toBe(best)
    expect(await node.result('eth_blockNumber')).toBe(last.blockIncludedHeight)
  })

  test('behavior: a long poll waits for other work than the known one, or for its time', async () => {
    const known = await work()
    const after = known.blockHashForMergedMining
    const wait = (timeoutMs: number, hash = after) => node.result<Work>('mnr_getWork', [{ after: hash, timeoutMs }])
    expect(await wait(1)).toMatchObject({ blockHashForMergedMining: after, notify: false })
    expect(await wait(60_000, `0x${'77'.repeat(32)}`)).toMatchObject({ blockHashForMergedMining: after })
    const waiting = wait(60_000)
    const { block } = mine(known)
    await submit(block)
    const next = await waiting
    expect(next).toMatchObject({ notify: true, parentBlockHash: (await head()).hash })
    expect(next.blockHashForMergedMining).not.toBe(after)
    for (const [wrong, message] of [
      [{}, 'Invalid hash'],
      [{ after, timeoutMs: 60_001 }, 'Invalid timeoutMs'],
      ['0x1', 'Invalid wait'],
    ] as const) {
      const { error } = await node.ask('mnr_getWork', [wrong])
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) })
    }
  })

  test('error: one client waits for work at most 128 times in a worker', async () => {
    const { blockHashForMergedMining: after } = await work()
    const client = await Client.open(node.url)
    const wait = { jsonrpc: '2.0', id: 1, method: 'mnr_getWork', params: [{ after, timeoutMs: 3000 }] }
    for (let sent = 0; sent < 129; sent++) client.socket.send(JSON.stringify(wait))
    // The waits end together, later.
    expect((await client.next())?.error?.code).toBe(-32005)
    for (let answered = 1; answered < 129; answered++) expect((await client.next())?.error).toBeUndefined()
    await client.close()
  })

  test('behavior: newWork publishes other work', async () => {
    const client = await Client.open(node.url)
    const known = await work()
    const id = await client.result('eth_subscribe', ['newWork'])
    await submit(mine(known).block)
    const [first] = await client.take(1)
    const { hash } = await head()
    expect(first?.params).toMatchObject({ subscription: id, result: { parentBlockHash: hash, notify: true } })
    // The subscription does not take the request to change over from the miner that polls.
    expect(await work()).toMatchObject({ ...(first?.params.result as Work), notify: true })
    await client.close()
  })

  test('behavior: the time of a work can be moved', async () => {
    const before = await node.result<{ timestamp: string }>('eth_getBlockByNumber', ['latest'])
    await node.result('evm_stopMining')
    await node.result('evm_increaseTime', [1000])
    await node.result('evm_startMining')
    await submit(mine(await work()).block)
    const after = await node.result<{ timestamp: string }>('eth_getBlockByNumber', ['latest'])
    expect(Number(after.timestamp) - Number(before.timestamp)).toBeGreaterThanOrEqual(990)
  })

  test('error: solutions that are none', async () => {
    const current = await work()
    const unknown = { ...current, blockHashForMergedMining: `0x${'77'.repeat(32)}` }
    const refused = (params: unknown[], method = 'mnr_submitBitcoinBlock') => node.ask(method, params)
    expect((await refused([mine(unknown).block])).error).toEqual({
      code: -33000,
      message: `Cannot publish block, could not find hash 0x${'77'.repeat(32)} in the cache`,
    })
    const poor = mine(current, 0, undefined, false)
    expect((await refused([poor.block])).error).toEqual({
      code: -33000,
      message: expect.stringMatching(/^Invalid block supplied by miner: [0-9a-f]{64} [0-9a-f]{64} at height \d+$/),
    })
    const noBranch = await refused(['', '', '', '', ''], 'mnr_submitBitcoinBlockPartialMerkle')
    expect(noBranch.error).toEqual({ code: -33000, message: "The list of merkle hashes can't be empty" })
    for (const params of [[''], ['zz'], ['00'], [7], [null], []]) {
      expect((await refused(params)).error?.code, JSON.stringify(params)).toBe(-32602)
    }
    const parts = await refused(['', '', '', ''], 'mnr_submitBitcoinBlockTransactions')
    expect(parts.error?.code).toBe(-32602)
  })

  test('behavior: methods of miners of other chains', async () => {
    const word = `0x${'ab'.repeat(32)}`
    expect(await node.result('eth_submitWork', ['0x0000000000000001', word, word])).toBe(false)
    expect(await node.result('eth_submitHashrate', [word, word])).toBe(true)
    expect((await node.ask('eth_submitWork', ['0x01', word, word])).error?.code).toBe(-32602)
    expect((await node.ask('eth_submitHashrate', [word, '0x01'])).error?.code).toBe(-32602)
    expect(await node.result('eth_hashrate')).toBe('0x0')
  })
})

describe('a miner outside, with settings', () => {
  const coinbase = '0x00000000000000000000000000000000000000aa'
  let node: NodeProcess
  beforeAll(async () => {
    const settings = [
      'mining = "off"',
      '[miner]',
      `coinbase = "${coinbase}"`,
      'fixedClock = true',
      'submissionIntervalSeconds = 3600',
      'notifiedFeesWei = 400000',
      'minimumGasPriceWei = 7',
    ]
    node = await NodeProcess.start(['--workers', '1'], `${settings.join('\n')}\n`)
  })
  afterAll(() => node?.stop())

  test('behavior: low fees cause no notification, the clock is fixed, submissions have a minimum interval', async () => {
    await node.result('evm_stopMining')
    await node.result('evm_increaseTime', [1_700_000_000])
    await node.result('evm_startMining')
    expect((await node.result<Work>('mnr_getWork')).notify).toBe(true)
    const send = (gasPrice: string) =>
      node.result('eth_sendTransaction', [{ from: first, to: other, value: '0x1', gas: '0x5208', gasPrice }])
    await send('0xa')
    expect(await node.result<Work>('mnr_getWork')).toMatchObject({ feesPaidToMiner: '210000', notify: false })
    await send('0xa')
    const told = await node.result<Work>('mnr_getWork')
    expect(told).toMatchObject({ feesPaidToMiner: '420000', notify: true })
    expect(await node.result<Submitted>('mnr_submitBitcoinBlock', [mine(told).block])).toMatchObject({
      blockImportedResult: best,
    })
    const block = await node.result<Record<string, string>>('eth_getBlockByNumber', ['latest'])
    expect([block.miner, Number(block.minimumGasPrice)]).toEqual([coinbase, 1])
    // The clock is fixed at the time of the genesis block; the offset lasts (choice timeOffset).
    expect(Number(block.timestamp)).toBe(1_700_000_000)
    const again = await node.ask('mnr_submitBitcoinBlock', [mine(await node.result<Work>('mnr_getWork')).block])
    expect(again.error).toEqual({
      code: -33000,
      message: 'Cannot publish block, block submission rate limit exceeded',
    })
  })
})

test('behavior: eth_getWork and eth_submitWork belong to eth, whatever mnr is set to', async () => {
  const node = await NodeProcess.start(['--workers', '1'], '[modules.mnr]\nenabled = false\n')
  expect((await node.ask('mnr_getWork')).error?.code).toBe(-32601)
  expect(await node.result<string[]>('eth_getWork')).toHaveLength(3)
  expect(
    await node.result('eth_submitWork', ['0x0000000000000001', first.padEnd(66, '0'), first.padEnd(66, '0')]),
  ).toBe(false)
  await node.stop()
})

test('behavior: disabled by default outside development networks', async () => {
  const node = await NodeProcess.start(['--network', 'testnet', '--workers', '1'])
  expect((await node.ask('mnr_getWork')).error?.code).toBe(-32601)
  await node.stop()
})

/** Builds a Bitcoin block for a block template, with another transaction if an id is given; `extra` makes it different. */
function mine(work: Work, extra = 0, id?: Buffer, isSolved = true) {
  const hash = Buffer.from(work.blockHashForMergedMining.slice(2), 'hex')
  const coinbase = Buffer.concat([
    Buffer.from(`0100000001${'00'.repeat(32)}ffffffff04`, 'hex'),
    uint32(extra),
    Buffer.from('ffffffff0100000000000000002b6a29', 'hex'),
    Buffer.from('RSKBLOCK:'),
    hash,
    uint32(0),
  ])
  const coinbaseId = sha256d(coinbase)
  const root = id === undefined ? coinbaseId : sha256d(Buffer.concat([coinbaseId, id]))
  for (let nonce = 0; ; nonce++) {
    const parts = [uint32(0x20000000), Buffer.alloc(32), root, uint32(1_700_000_000), uint32(0x207fffff), uint32(nonce)]
    const header = Buffer.concat(parts)
    const shown = `0x${sha256d(header).reverse().toString('hex')}`
    if (shown <= work.target === isSolved) {
      const texts = { header: header.toString('hex'), coinbase: coinbase.toString('hex') }
      return { ...texts, block: `${texts.header}01${texts.coinbase}`, id: coinbaseId }
    }
  }
}

function sha256d(bytes: Buffer): Buffer {
  const once = createHash('sha256').update(bytes).digest()
  return createHash('sha256').update(once).digest()
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function result(name: string): string {
  return `0x${Buffer.from(name).toString('hex')}`
}
