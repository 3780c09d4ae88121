import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, scratchFolder } from './node.ts'

// The API of Otterscan, and the index of addresses that it searches.

const [from, second] = ['0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826', '0x7986b3df570230288501eea3d890bd66948c9b79']
const [holder, receiver] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const contract = (digit: string) => `0x${'0'.repeat(36)}c0d${digit}`
const [token, payer, factory, failing] = ['1', '2', '3', '4'].map(contract) as [string, string, string, string]
const transfer = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (value: string) => value.replace('0x', '').padStart(64, '0')
/** Emits Transfer from the caller to the first argument. */
const tokenCode = `0x60203560005260003533 7f${transfer}60206000a300`.replace(' ', '')
/** Sends a wei to the receiver, then calls a precompile. */
const payerCode = `0x600060006000600060017 3${receiver.slice(2)}5af15060006000600060006000600460fff100`.replace(' ', '')
/** Creates a contract of one byte of code. */
const factoryCode = '0x69600060005360016000f3600052600a60166000f000'
/** Reverts with the word 1. */
const failingCode = '0x600160005260206000fd'

interface Page {
  readonly txs: readonly { readonly hash: string; readonly blockNumber: string; readonly input: string }[]
  readonly receipts: readonly {
    readonly transactionHash: string
    readonly timestamp: number
    readonly logs: object[]
  }[]
  readonly firstPage: boolean
  readonly lastPage: boolean
}

describe('a development node', () => {
  const dir = join(scratchFolder(), 'data')
  let node: NodeProcess
  const sent: string[] = []
  const send = async (transaction: object) => {
    const hash = await node.result<string>('eth_sendTransaction', [{ from, gas: '0x30d40', ...transaction }])
    sent.push(hash)
    return hash
  }
  const search = (way: string, address: string, number: number | string, size = 25) =>
    node.result<Page>(`ots_searchTransactions${way}`, [address, number, size])
  const hashes = ({ txs }: Page) => txs.map(({ hash }) => hash)

  beforeAll(async () => {
    node = await NodeProcess.start(['--data-dir', dir, '--workers', '1'])
    for (const [address, code] of [
      [token, tokenCode],
      [payer, payerCode],
      [factory, factoryCode],
      [failing, failingCode],
    ])
      await node.result('hardhat_setCode', [address, code])
    for (let turn = 0; turn < 5; turn++) await send({ to: holder, value: '0x1' })
    await send({ to: token, data: `0x${word(holder)}${word('5')}` })
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node?.stop()
  })

  test('error: searches name the setting while there is no index', async () => {
    const { error } = await node.ask('ots_searchTransactionsBefore', [holder, 0, 25])
    expect(error).toMatchObject({ code: -32000, message: expect.stringContaining('index.addresses') })
    expect(await node.result('ots_getApiLevel')).toBe(8)
  })

  test('behavior: blocks stored before are added, later ones at once, in both directions', {
    timeout: 60_000,
  }, async () => {
    await node.stop()
    node = await NodeProcess.start(['--data-dir', dir, '--workers', '1', '--index-addresses'])
    const found = () => node.ask('ots_searchTransactionsBefore', [holder, 0, 25])
    await expect.poll(async () => (await found()).error).toBeUndefined()
    const newest = [...sent].reverse()
    const all = await search('Before', holder, 0)
    expect(hashes(all)).toEqual(newest)
    expect([all.firstPage, all.lastPage]).toEqual([true, true])
    expect(all.receipts.map(({ transactionHash }) => transactionHash)).toEqual(newest)
    expect(all.receipts[0]?.logs).toHaveLength(1)
    const { timestamp } = await node.result<{ timestamp: string }>('eth_getBlockByNumber', [all.txs[0]?.blockNumber])
    expect(all.receipts[0]?.timestamp).toBe(Number(timestamp))

    // Pages of two, from the head down and from genesis up.
    const first = await search('Before', holder, 0, 2)
    expect([hashes(first), first.firstPage, first.lastPage]).toEqual([newest.slice(0, 2), true, false])
    const next = await search('Before', holder, Number(first.txs[1]?.blockNumber), 2)
    expect([hashes(next), next.firstPage, next.lastPage]).toEqual([newest.slice(2, 4), false, false])
    const last = await search('After', holder, 0, 2)
    expect([hashes(last), last.firstPage, last.lastPage]).toEqual([newest.slice(-2), false, true])
    const before = await search('After', holder, last.txs[0]?.blockNumber ?? '', 4)
    expect([hashes(before), before.firstPage, before.lastPage]).toEqual([newest.slice(0, 4), true, false])

    // A block is never divided, and a block that is rolled back leaves the index.
    await node.result('evm_setAutomine', [false])
    for (let turn = 0; turn < 3; turn++) await send({ to: receiver, value: '0x1' })
    await node.result('evm_mine')
    await node.result('evm_setAutomine', [true])
    expect((await search('Before', receiver, 0, 1)).txs).toHaveLength(3)
    expect(hashes(await search('Before', from, 0, 1))).toHaveLength(3)
    await node.result('anvil_rollback', [1])
    expect((await search('Before', receiver, 0)).txs).toEqual([])
    expect(hashes(await search('Before', holder, 0))).toEqual(newest)
  })

  test('behavior: transactions are executed again', async () => {
    const paid = await send({ to: payer, value: '0x5' })
    expect(await node.result('ots_getInternalOperations', [paid])).toEqual([
      { type: 0, from: payer, to: receiver, value: '0x1' },
    ])
    // The outermost call, the payment; precompiles are left out.
    expect(await node.result('ots_traceTransaction', [paid])).toEqual([
      { type: 'CALL', depth: 0, from, to: payer, value: '0x5', input: '0x', output: '0x' },
      { type: 'CALL', depth: 1, from: payer, to: receiver, value: '0x1', input: '0x', output: '0x' },
    ])
    const made = await send({ to: factory })
    const [operation] = await node.result<{ to: string }[]>('ots_getInternalOperations', [made])
    expect(operation).toMatchObject({ type: 2, from: factory, value: '0x0' })
    expect(await node.result('ots_hasCode', [operation?.to, 'latest'])).toBe(true)
    expect(await node.result('ots_hasCode', [operation?.to, 1])).toBe(false)
    await send({ to: operation?.to })
    expect(await node.result('ots_getContractCreator', [operation?.to])).toEqual({ hash: made, creator: factory })
    const created = await send({ data: '0x600060005360016000f3' })
    const { contractAddress } = await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [created])
    expect(await node.result('ots_getContractCreator', [contractAddress])).toEqual({ hash: created, creator: from })
    expect(hashes(await search('Before', contractAddress, 0))).toEqual([created])
    expect(await node.result('ots_getContractCreator', [holder])).toBeNull()

    await node.ask('eth_sendTransaction', [{ from: second, to: failing, gas: '0x30d40' }])
    const hash = await node.result<string>('ots_getTransactionBySenderAndNonce', [second, 0])
    expect(await node.result('ots_getTransactionError', [hash])).toBe(`0x${word('1')}`)
    expect(await node.result('ots_getTransactionError', [paid])).toBe('0x')
    expect(await node.result('ots_getInternalOperations', [hash])).toEqual([])
    expect(await node.result('ots_getTransactionBySenderAndNonce', [second, 1])).toBeNull()
  })

  test('behavior: blocks and their pages are short', async () => {
    const { hash, number } = await node.result<{ hash: string; number: string }>('eth_getBlockByNumber', ['latest'])
    const details = await node.result<Record<string, Record<string, unknown>>>('ots_getBlockDetails', [Number(number)])
    expect(details.block).toMatchObject({ hash, logsBloom: null, transactionCount: 2 })
    expect(details.block).not.toHaveProperty('transactions')
    expect(details.issuance).toEqual({ blockReward: '0x0', uncleReward: '0x0', issuance: '0x0' })
    expect(await node.result('ots_getBlockDetailsByHash', [hash])).toEqual(details)
    const data = `0x${'ab'.repeat(100)}`
    await send({ to: holder, data, gasPrice: '0x3' })
    const head = await node.result<{ number: string; paidFees: string }>('eth_getBlockByNumber', ['latest'])
    const paid = await node.result<{ totalFees: string }>('ots_getBlockDetails', ['latest'])
    expect([paid.totalFees, BigInt(paid.totalFees) > 0n]).toEqual([head.paidFees, true])
    const page = (index: number, size: number) =>
      node.result<{ fullblock: { transactions: { input: string; to: string }[] }; receipts: object[] }>(
        'ots_getBlockTransactions',
        [Number(head.number), index, size],
      )
    const whole = await page(0, 25)
    expect(whole.fullblock.transactions.map(({ input }) => input)).toEqual(['0xabababab', '0x'])
    expect(whole.receipts).toMatchObject([
      { logs: null, logsBloom: null },
      { logs: null, logsBloom: null },
    ])
    expect((await page(1, 1)).fullblock.transactions).toMatchObject([{ to: holder }])
    expect((await page(2, 1)).fullblock.transactions).toEqual([])
    expect(await node.result('ots_getBlockTransactions', [9999, 0, 10])).toBeNull()
  })

  test('behavior: accounts of inner calls are found, of stored blocks and of new ones', {
    timeout: 60_000,
  }, async () => {
    const made = (await search('Before', factory, 0)).txs[0]?.hash ?? ''
    const [operation] = await node.result<{ to: string }[]>('ots_getInternalOperations', [made])
    const inner = operation?.to ?? ''
    const paid = hashes(await search('Before', payer, 0))
    expect(paid).toHaveLength(1)
    expect(hashes(await search('Before', receiver, 0))).toEqual([])
    expect(hashes(await search('Before', inner, 0))).not.toContain(made)
    await node.stop()
    node = await NodeProcess.start(['--data-dir', dir, '--workers', '1', '--index-calls'])
    const found = () => node.ask('ots_searchTransactionsBefore', [receiver, 0, 25])
    await expect.poll(async () => (await found()).error).toBeUndefined()
    expect(hashes(await search('Before', receiver, 0))).toEqual(paid)
    expect(hashes(await search('Before', inner, 0))).toContain(made)
    const again = await send({ to: payer, value: '0x5' })
    expect(hashes(await search('Before', receiver, 0))).toEqual([again, ...paid])
    await node.result('anvil_rollback', [1])
    expect(hashes(await search('Before', receiver, 0))).toEqual(paid)
    // Precompiles of Ethereum are left out.
    expect(hashes(await search('Before', `0x${word('4').slice(24)}`, 0))).toEqual([])
  })

  test.each([
    ['ots_searchTransactionsBefore', [holder, 0, 26]],
    ['ots_searchTransactionsBefore', [holder, -1, 25]],
    ['ots_searchTransactionsAfter', ['0x12', 0, 25]],
    ['ots_getBlockTransactions', [1, 0, 100]],
    ['ots_getBlockDetails', ['pending']],
    ['ots_hasCode', [holder, 1.5]],
    ['ots_traceTransaction', ['0x12']],
  ])('error: %s %j', async (method, params) => {
    expect((await node.ask(method, params)).error?.code).toBe(-32602)
  })
})
