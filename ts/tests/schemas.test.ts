import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Compile } from 'typebox/schema'
import { encodeFunctionData, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { table } from '../src/methods/table.ts'
import { counter, keys } from './contract.ts'
import { NodeProcess } from './node.ts'

// Answers against the schemas of ethereum/execution-apis. Only the differences listed here are allowed.

interface Schema {
  properties?: Record<string, unknown>
  required?: string[]
  additionalProperties?: boolean
  unevaluatedProperties?: boolean
  allOf?: Schema[]
}

const packed = readFileSync(new URL('../../tests/vectors/schemas/execution-apis.json.gz', import.meta.url))
const { results, $defs } = JSON.parse(gunzipSync(packed).toString()) as {
  results: Record<string, object>
  $defs: Record<string, Schema> & { Block: Schema; TransactionInfo: Schema }
}

/** Members of a block that only Rootstock has, and a former member of Ethereum's blocks. */
const extraOfBlock = [
  'totalDifficulty',
  'minimumGasPrice',
  'bitcoinMergedMiningHeader',
  'bitcoinMergedMiningCoinbaseTransaction',
  'bitcoinMergedMiningMerkleProof',
  'hashForMergedMining',
  'paidFees',
  'cumulativeDifficulty',
  'rskPteEdges',
  'baseEvent',
]

/** Members of a transaction that the schemas require since 2025 and the API document does not have. */
const missingOfTransaction = ['blockTimestamp']

/** r and s: DATA(32) in the API document, QUANTITY in the schemas. */
const wordsOfTransaction = ['r', 's']

/** The only schema that adds members to those of a block. */
const extendsBlock = 'eth_simulateV1'

/** Methods whose answers have a format of Rootstock: traces of the reference node, its listing of the pool, upgrades. */
const ownForm = /^(debug_trace|txpool_|trace_|eth_config)/

function adapted(method: string): Record<string, Schema> {
  const definitions = structuredClone($defs)
  const { Block: block, TransactionInfo: transaction } = definitions
  for (const name of extraOfBlock) (block.properties as Record<string, unknown>)[name] = {}
  block.additionalProperties = method === extendsBlock
  const place = transaction.allOf?.[0] as Schema
  place.required = (place.required as string[]).filter((name) => !missingOfTransaction.includes(name))
  transaction.unevaluatedProperties = false
  const signature = (definitions.TransactionLegacySigned as Schema).allOf?.[1] as Schema
  const word = { type: 'string', pattern: '^0x([0-9a-f]{64}|0)$' }
  for (const name of wordsOfTransaction) (signature.properties as Record<string, unknown>)[name] = word
  return definitions
}

const from = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const other = '0x00000000000000000000000000000000000000ff'
let node: NodeProcess
let calls: [method: string, params: unknown[]][]

beforeAll(async () => {
  node = await NodeProcess.start([], 'modules.debug.enabled = true\n')
  const mined = async (transaction: object) => {
    const hash = await node.result<string>('eth_sendTransaction', [{ from, gas: '0x100000', ...transaction }])
    return node.result<Record<string, string>>('eth_getTransactionReceipt', [hash])
  }
  const blockFilter = await node.result('eth_newBlockFilter')
  const { contractAddress: contract, transactionHash: creation } = await mined({
    data: `${counter.bytecode}${'28'.padStart(64, '0')}`,
  })
  const logFilter = await node.result('eth_newFilter', [{ fromBlock: '0x0' }])
  const abi = parseAbi(['function increase(uint256 step) returns (uint256)'])
  const data = encodeFunctionData({ abi, functionName: 'increase', args: [2n] })
  const { transactionHash: hash, blockHash: block } = await mined({ to: contract, data })
  const raw = await privateKeyToAccount(keys[1]).signTransaction({
    chainId: 33,
    type: 'legacy',
    to: other,
    gas: 21_000n,
    gasPrice: 0n,
    value: 1n,
    nonce: 0,
  })
  const none = `0x${'ab'.repeat(32)}`
  calls = [
    ['eth_accounts', []],
    ['eth_blockNumber', []],
    ['eth_call', [{ to: contract, data: '0x2ddbd13a' }, 'latest']],
    ['eth_chainId', []],
    ['eth_coinbase', []],
    ['eth_estimateGas', [{ from, to: contract, data }]],
    ['eth_feeHistory', ['0x3', 'latest', [10, 90]]],
    ['eth_gasPrice', []],
    ['eth_getBalance', [from, 'latest']],
    ...['earliest', '0x1', 'latest', '0x99'].map((at) => ['eth_getBlockByNumber', [at, false]] as [string, unknown[]]),
    ['eth_getBlockByNumber', ['latest', true]],
    ['eth_getBlockByHash', [block, true]],
    ['eth_getBlockByHash', [none, true]],
    ['eth_getBlockReceipts', ['latest']],
    ['eth_getBlockReceipts', ['0x99']],
    ['eth_getBlockTransactionCountByHash', [block]],
    ['eth_getBlockTransactionCountByHash', [none]],
    ['eth_getBlockTransactionCountByNumber', ['latest']],
    ['eth_getCode', [contract, 'latest']],
    ['eth_getCode', [other, 'latest']],
    ['eth_getFilterChanges', [blockFilter]],
    ['eth_getFilterChanges', [logFilter]],
    ['eth_getFilterLogs', [logFilter]],
    ['eth_getLogs', [{ fromBlock: '0x0' }]],
    ['eth_getProof', [contract, ['0x0', `0x${'01'.padStart(64, '0')}`], 'latest']],
    ['eth_getProof', [`0x${'9a'.repeat(20)}`, ['0x5'], 'latest']],
    ['eth_getStorageAt', [contract, '0x0', 'latest']],
    ['eth_capabilities', []],
    ['eth_fillTransaction', [{ from, to: other, value: '0x1' }]],
    ['eth_getStorageValues', [{ [`${contract}`]: ['0x0', '0x1'] }, 'latest']],
    ['eth_getTransactionByBlockHashAndIndex', [block, '0x0']],
    ['eth_getTransactionByBlockHashAndIndex', [block, '0x9']],
    ['eth_getTransactionByBlockNumberAndIndex', ['latest', '0x1']],
    ['eth_getTransactionByHash', [hash]],
    ['eth_getTransactionByHash', [none]],
    ['eth_getTransactionCount', [from, 'latest']],
    ['eth_getTransactionReceipt', [creation]],
    ['eth_getTransactionReceipt', [hash]],
    ['eth_getTransactionReceipt', [none]],
    ['eth_maxPriorityFeePerGas', []],
    ['eth_newBlockFilter', []],
    ['eth_newFilter', [{}]],
    ['eth_newPendingTransactionFilter', []],
    ['eth_sendRawTransaction', [raw]],
    ['eth_sendTransaction', [{ from, to: other, value: '0x1' }]],
    ['eth_sign', [from, '0x1234']],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ from, to: contract, data }] }, {}] }, 'latest']],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ from, to: contract, data: '0xffffffff' }] }] }, 'latest']],
    [
      'eth_simulateV1',
      [
        {
          blockStateCalls: [{ calls: [{ from, to: other, value: '0x1' }] }],
          traceTransfers: true,
          returnFullTransactions: true,
        },
        'latest',
      ],
    ],
    ['eth_syncing', []],
    ['eth_uninstallFilter', [blockFilter]],
    ['net_version', []],
    ['debug_getRawBlock', ['latest']],
    ['debug_getRawHeader', ['latest']],
    ['debug_getRawReceipts', ['latest']],
    ['debug_getRawTransaction', [hash]],
  ]
})
afterAll(() => node?.stop())

test('behavior: every answer has the form of its schema', async () => {
  for (const [method, params] of calls) {
    const check = Compile({ ...results[method], $defs: adapted(method) })
    const answer = await node.result<unknown>(method, params)
    const [, faults] = check.Errors(answer)
    expect({ method, params, answer, isGood: check.Check(answer), faults }).toMatchObject({ isGood: true, faults: [] })
  }
})

test('behavior: listed differences exist', async () => {
  const block = await node.result<object>('eth_getBlockByNumber', ['latest', true])
  for (const name of extraOfBlock) {
    const definitions = adapted('eth_getBlockByNumber')
    delete (definitions.Block as Schema).properties?.[name]
    expect([name, Compile({ ...results.eth_getBlockByNumber, $defs: definitions }).Check(block)]).toEqual([name, false])
    expect($defs.Block.properties).not.toHaveProperty(name)
  }
  const [transaction] = (block as { transactions: object[] }).transactions
  for (const name of missingOfTransaction) {
    expect(transaction).not.toHaveProperty(name)
    expect($defs.TransactionInfo.allOf?.[0]?.required).toContain(name)
  }
  for (const name of wordsOfTransaction) expect(transaction).toHaveProperty(name)
})

test('behavior: every served method that has a schema is asked', () => {
  const served = table.flatMap((row) => [row.name, row.alias ?? []].flat())
  const known = served.filter((name) => name in results && !ownForm.test(name))
  expect(known.filter((name) => !calls.some(([method]) => method === name))).toEqual([])
  expect(known.length).toBeGreaterThan(35)
})
