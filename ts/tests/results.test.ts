import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { table } from '../src/methods/table.ts'
import { counter } from './contract.ts'
import { NodeProcess } from './node.ts'
import { Client } from './webSocket.ts'

// Answers of all methods of a real node, compared with the description in rpc.discover.

type Params = readonly unknown[]

const results = new Map(table.map(({ name, method }) => [name, method.result]))

const [from, second] = ['0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826', '0x7986b3df570230288501eea3d890bd66948c9b79']
const other = '0x00000000000000000000000000000000000000ff'
const nobody = `0x${'9a'.repeat(20)}`
const none = `0x${'ab'.repeat(32)}`
const word = (number: number) => number.toString(16).padStart(64, '0')
const increase = (step: number) => `0x30f3f0db${word(step)}`
const traceTypes = ['trace', 'stateDiff', 'vmTrace']
const tracers = [
  'callTracer',
  'prestateTracer',
  '4byteTracer',
  'flatCallTracer',
  'muxTracer',
  'noopTracer',
  'erc7562Tracer',
]
const typedData = {
  types: { EIP712Domain: [{ name: 'name', type: 'string' }], Note: [{ name: 'text', type: 'string' }] },
  primaryType: 'Note',
  domain: { name: 'test' },
  message: { text: 'hello' },
}

let node: NodeProcess
let client: Client
let contract: string
let creation: string
let hash: string
let failed: string
let block: string
const asked = new Set<string>()

/** Sends a request and compares the result with its description. */
async function good<T>(name: string, params: Params = [], ask = node.result.bind(node)): Promise<T> {
  asked.add(name)
  const answer = await ask<T>(name, [...params])
  const check = Compile(results.get(name) ?? {})
  const faults = [...check.Errors(answer)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  expect({ name, params, answer, faults }).toMatchObject({ faults: [] })
  return answer
}

beforeAll(async () => {
  node = await NodeProcess.start(
    ['--workers', '1', '--index-addresses', '--peers', `enode://${'cd'.repeat(64)}@127.0.0.1:1`],
    '[rpc]\ntimeoutMs = 60000\n[modules.rsk]\ndeny = []\n',
  )
  client = await Client.open(node.url)
  const send = (transaction: object) => good<string>('eth_sendTransaction', [{ from, gas: '0x100000', ...transaction }])
  creation = await send({ data: `${counter.bytecode}${word(40)}` })
  contract = (await node.result<Record<string, string>>('eth_getTransactionReceipt', [creation])).contractAddress ?? ''
  hash = await send({ to: contract, data: increase(2) })
  block = (await node.result<Record<string, string>>('eth_getBlockByNumber', ['latest'])).hash ?? ''
  // The transaction is mined, although the caller gets the revert as an error.
  expect((await node.ask('eth_sendTransaction', [{ from, to: contract, data: increase(0) }])).error?.code).toBe(-32015)
  const { transactions } = await node.result<{ transactions: string[] }>('eth_getBlockByNumber', ['latest'])
  failed = transactions[0] ?? ''
})
afterAll(async () => {
  await client?.close()
  await node?.stop()
})

const withoutParameters = table.filter(
  ({ name, method }) => method.params.minimum === 0 && !/^(evm|hardhat|miner|eth_new|rsk_shutdown)/.test(name),
)

describe('answers have the form that is described', { timeout: 120_000 }, () => {
  test.each(withoutParameters.map(({ name }) => name))('%s', (name) => good(name))

  test('state reads', async () => {
    for (const at of ['latest', 'earliest', '0x1', block, { blockHash: block }]) {
      for (const who of [from, contract, nobody]) {
        await good('eth_getBalance', [who, at])
        await good('eth_getTransactionCount', [who, at])
        await good('eth_getCode', [who, at])
        await good('eth_getStorageAt', [who, '0x0', at])
        await good('rsk_getStorageBytesAt', [who, '0x0', at])
        await good('eth_getProof', [who, ['0x0', '0x1'], at])
      }
    }
    await good('debug_accountTransactionQuota', [from])
    await good('debug_accountTransactionQuota', [nobody])
  })

  test('blocks, transactions and receipts', async () => {
    for (const at of ['earliest', '0x1', 'latest', '0x99']) {
      for (const isFull of [false, true]) await good('eth_getBlockByNumber', [at, isFull])
      await good('eth_getHeaderByNumber', [at])
      await good('eth_getBlockReceipts', [at])
      await good('rsk_getRawBlockHeaderByNumber', [at])
      for (const name of ['debug_getRawHeader', 'debug_getRawBlock', 'debug_getRawReceipts']) await good(name, [at])
      for (const index of ['0x0', '0x9']) {
        await good('eth_getTransactionByBlockNumberAndIndex', [at, index])
        await good('eth_getRawTransactionByBlockNumberAndIndex', [at, index])
        await good('eth_getUncleByBlockNumberAndIndex', [at, index])
      }
    }
    for (const at of [block, none]) {
      for (const isFull of [false, true]) await good('eth_getBlockByHash', [at, isFull])
      await good('eth_getHeaderByHash', [at])
      await good('eth_getBlockTransactionCountByHash', [at])
      await good('rsk_getRawBlockHeaderByHash', [at])
      await good('rsk_getTransactionReceiptNodesByHash', [at, hash])
      await good('eth_getTransactionByBlockHashAndIndex', [at, '0x0'])
      await good('eth_getRawTransactionByBlockHashAndIndex', [at, '0x0'])
      await good('eth_getUncleByBlockHashAndIndex', [at, '0x0'])
    }
    await good('eth_getUncleCountByBlockHash', [block])
    await good('eth_getUncleCountByBlockNumber', ['latest'])
    await good('eth_getBlockTransactionCountByNumber', ['pending'])
    await good('eth_getBlocksByNumber', ['0x1'])
    await good('eth_getBlocksByNumber', ['0x99'])
    for (const one of [creation, hash, failed, none]) {
      await good('eth_getTransactionByHash', [one])
      await good('eth_getRawTransactionByHash', [one])
      await good('eth_getTransactionReceipt', [one])
      await good('rsk_getRawTransactionReceiptByHash', [one])
    }
    await good('eth_feeHistory', ['0x2', 'latest', [10, 90]])
    await good('eth_feeHistory', ['0x2', 'latest'])
    await good('web3_sha3', ['0x1234'])
  })

  test('calls', async () => {
    const call = { from, to: contract, data: increase(3) }
    await good('eth_call', [call, 'latest'])
    await good('eth_call', [call, 'latest', { [contract]: { stateDiff: { '0x0': '0x1' } } }, { number: '0x9' }])
    await good('eth_estimateGas', [call])
    await good('eth_fillTransaction', [call])
    for (const transactionIndex of [undefined, -1, 0, 1]) {
      const bundle = {
        transactions: [call, { ...call, data: increase(0) }],
        blockOverride: { timestamp: '0x77777777' },
      }
      const answer = await good<object[][]>('eth_callMany', [
        [bundle, bundle],
        { blockNumber: block, transactionIndex },
      ])
      expect(answer.map((calls) => calls.map((one) => Object.keys(one)))).toEqual(Array(2).fill([['value'], ['error']]))
    }
    await good('eth_getStorageValues', [{ [contract]: ['0x0', '0x1'], [nobody]: ['0x0'] }, 'latest'])
    for (const nonce of ['0x0', '0x1', '0x99']) await good('eth_getTransactionBySenderAndNonce', [from, nonce])
    const simulated = { traceTransfers: true, blockStateCalls: [{ calls: [call, { ...call, data: increase(0) }] }] }
    await good('eth_simulateV1', [simulated, 'latest'])
    await good('eth_simulateV1', [{ ...simulated, returnFullTransactions: true }, 'latest'])
  })

  test('logs, filters and subscriptions', async () => {
    await good('eth_getLogs', [{ fromBlock: '0x0' }])
    await good('eth_getLogs', [{ blockHash: block }])
    const logs = await good<string>('eth_newFilter', [{ fromBlock: '0x0' }])
    const blocks = await good<string>('eth_newBlockFilter')
    const pending = await good<string>('eth_newPendingTransactionFilter')
    await good('eth_sendTransaction', [{ from, to: other, value: '0x1' }])
    await good('eth_getFilterLogs', [logs])
    for (const id of [logs, blocks, pending]) await good('eth_getFilterChanges', [id])
    for (const id of [logs, logs]) await good('eth_uninstallFilter', [id])
    const result = client.result.bind(client)
    const id = await good<string>('eth_subscribe', ['newHeads'], result)
    for (const one of [id, id]) await good('eth_unsubscribe', [one], result)
    const feed = await good<string>('rhizome_subscribe', ['feed', { from: 'latest' }], result)
    for (const one of [feed, feed]) await good('rhizome_unsubscribe', [one], result)
  })

  test('traces', async () => {
    for (const one of [creation, hash, failed]) {
      await good('trace_transaction', [one])
      await good('trace_get', [one, ['0x0']])
      await good('trace_replayTransaction', [one, traceTypes])
    }
    await good('trace_transaction', [none])
    await good('trace_replayTransaction', [none, ['trace']])
    for (const at of ['earliest', '0x1', 'latest', '0x99']) {
      await good('trace_block', [at])
      await good('trace_replayBlockTransactions', [at, traceTypes])
    }
    await good('trace_filter', [{ fromAddress: [from] }])
    const failing = { from, to: contract, data: increase(0) }
    await good('trace_call', [failing, traceTypes])
    const calls = [
      [failing, traceTypes],
      [{ ...failing, data: increase(2) }, ['trace']],
    ]
    await good('trace_callMany', [calls])
    const raw = await node.result<string>('eth_getRawTransactionByHash', [creation])
    await good('trace_rawTransaction', [raw, traceTypes])
    const encoded = await node.result<string>('debug_getRawBlock', ['latest'])
    for (const tracer of ['callTracer', undefined]) await good('debug_traceBlock', [encoded, tracer ? { tracer } : {}])
    for (const most of [0, 1, 100]) await good('debug_storageRangeAt', [block, 0, contract, '0x0', most])
    for (const tracer of [undefined, ...tracers]) {
      const tracerConfig = tracer === 'muxTracer' ? { callTracer: {}, noopTracer: {}, prestateTracer: {} } : {}
      const options = tracer === undefined ? {} : { tracer, tracerConfig }
      for (const one of [creation, hash, failed]) await good('debug_traceTransaction', [one, options])
      await good('debug_traceCall', [{ from, to: contract, data: increase(2) }, 'latest', options])
      await good('debug_traceBlockByHash', [block, options])
      await good('debug_traceBlockByNumber', ['latest', options])
    }
    await good('debug_traceTransaction', [hash, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }])
    for (const at of ['earliest', '0x99']) await good('debug_traceBlockByNumber', [at])
    for (const name of ['debug_traceTransaction', 'debug_traceBlockByHash']) await good(name, [none])
  })

  test('Otterscan', async () => {
    for (const who of [from, contract, nobody]) {
      await good('ots_hasCode', [who, 'latest'])
      await good('ots_getContractCreator', [who])
      for (const name of ['ots_searchTransactionsBefore', 'ots_searchTransactionsAfter']) await good(name, [who, 0, 25])
    }
    for (const at of [0, 1, 'latest', '0x99']) {
      await good('ots_getBlockDetails', [at])
      await good('ots_getBlockTransactions', [at, 0, 10])
      await good('ots_getHeaderByNumber', [at])
    }
    for (const at of [block, none]) await good('ots_getBlockDetailsByHash', [at])
    for (const nonce of [0, 99]) await good('ots_getTransactionBySenderAndNonce', [from, nonce])
    for (const one of [creation, hash, failed, none]) {
      await good('ots_getTransactionError', [one])
      await good('ots_getInternalOperations', [one])
      await good('ots_traceTransaction', [one])
    }
  })

  test('accounts', async () => {
    await good('eth_sign', [from, '0x1234'])
    await good('eth_signTypedData_v4', [from, typedData])
    const signature = await good<string>('personal_sign', ['0x1234', from])
    await good('personal_ecRecover', ['0x1234', signature])
    await good('personal_newAccountWithSeed', ['seed'])
    await good('personal_newAccount', ['secret'])
    const account = await good<string>('personal_importRawKey', [`0x${'11'.repeat(32)}`, 'secret'])
    await good('personal_unlockAccount', [account, 'secret', '0x3e8'])
    await good('personal_dumpRawKey', [account])
    await good('personal_lockAccount', [account])
    await good('eth_sendTransaction', [{ from, to: account, value: '0xde0b6b3a7640000' }])
    await good('personal_sendTransaction', [{ from: account, to: other, value: '0x1', gas: '0x5208' }, 'secret'])
  })

  test('the pool', async () => {
    await good('evm_setAutomine', [false])
    for (const data of ['0x', increase(1)])
      await good('eth_sendTransaction', [{ from, to: contract, data, gas: '0x30d40' }])
    const waiting = await good<{ pending: object }>('txpool_contentFrom', [from])
    expect(Object.keys(waiting.pending)).toHaveLength(2)
    await good('eth_sendTransaction', [{ from, data: counter.bytecode + word(1), gas: '0x100000' }])
    await good('eth_sendTransaction', [{ from, to: other, nonce: '0xf' }])
    for (const name of ['txpool_content', 'txpool_inspect', 'txpool_status', 'eth_pendingTransactions'])
      await good(name)
    const [{ hash: one } = { hash: '' }] = await node.result<{ hash: string }[]>('eth_pendingTransactions')
    await good('eth_getTransactionByHash', [one])
    await good('trace_block', ['pending'])
    for (const dropped of [one, one]) await good('hardhat_dropTransaction', [dropped])
    await good('evm_mine')
    await good('evm_setAutomine', [true])
  })

  test('mining and peers', async () => {
    await good('eth_submitWork', ['0x0000000000000001', none, none])
    await good('eth_submitHashrate', [none, none])
    await good('admin_nodeInfo')
    await good('admin_addPeer', [`enode://${'ab'.repeat(64)}@127.0.0.1:1`])
    await good('admin_removePeer', [`enode://${'ab'.repeat(64)}@127.0.0.1:1`])
    await good('admin_peers')
    await good('sco_banAddress', ['192.0.2.1'])
    await good('sco_bannedAddresses')
    await good('sco_clearPeerScoring', ['192.0.2.1'])
    await good('sco_unbanAddress', ['192.0.2.1'])
  })

  test('development', async () => {
    const snapshot = await good<string>('evm_snapshot')
    await good('hardhat_setBalance', [nobody, '0xde0b6b3a7640000'])
    await good('hardhat_setCode', [other, '0x00'])
    await good('hardhat_setNonce', [nobody, '0x5'])
    await good('hardhat_setStorageAt', [other, '0x0', `0x${word(1)}`])
    await good('hardhat_impersonateAccount', [nobody])
    const impersonated = await good<string>('eth_sendTransaction', [{ from: nobody, to: second, value: '0x1' }])
    await good('eth_getTransactionByHash', [impersonated])
    for (const who of [nobody, nobody]) await good('hardhat_stopImpersonatingAccount', [who])
    await good('hardhat_mine', ['0x2'])
    await good('eth_sendUnsignedTransaction', [{ from: nobody, to: second, value: '0x1' }])
    await good('hardhat_setCoinbase', [nobody])
    for (const name of ['hardhat_setMinGasPrice', 'hardhat_setNextBlockBaseFeePerGas']) await good(name, ['0x1'])
    await good('hardhat_setPrevRandao', [none])
    await good('evm_setBlockGasLimit', ['0x1000000'])
    for (const name of ['anvil_autoImpersonateAccount', 'anvil_setLoggingEnabled']) await good(name, [false])
    await good('anvil_setBlockTimestampInterval', [5])
    await good('hardhat_setBlockTimestampInterval', [5000])
    await good('anvil_removeBlockTimestampInterval')
    await good('anvil_removePoolTransactions', [nobody])
    for (const name of ['anvil_nodeInfo', 'hardhat_metadata', 'anvil_dropAllTransactions']) await good(name)
    await good('evm_setTime', ['0xf0000000'])
    await good('evm_increaseTime', [10])
    await good('evm_setNextBlockTimestamp', ['0xffffffff'])
    await good('evm_setIntervalMining', [0])
    for (const name of ['evm_mine', 'evm_stopMining', 'evm_startMining', 'miner_stop', 'miner_start']) await good(name)
    const state = await good<string>('anvil_dumpState')
    await good('anvil_loadState', [state])
    await good('anvil_reorg', [1])
    await good('anvil_rollback')
    for (const id of [snapshot, '0x99']) await good('evm_revert', [id])
    for (const name of ['evm_reset', 'hardhat_reset', 'hardhat_getAutomine']) await good(name)
  })

  test('behavior: a fork', async () => {
    await node.result('evm_mine')
    const fork = await NodeProcess.start(['--fork', node.url, '--no-fork-cache'])
    await good('anvil_setRpcUrl', [node.url], fork.result.bind(fork))
    await fork.stop()
  })
})

/** Tested elsewhere, with the same check: a signed transaction, solved blocks, the shutdown. */
const elsewhere = /^(eth_sendRawTransaction|mnr_submit|rsk_shutdown)/

test('behavior: every method was asked', () => {
  const missing = table.map(({ name }) => name).filter((name) => !asked.has(name) && !elsewhere.test(name))
  expect(missing).toEqual([])
})
