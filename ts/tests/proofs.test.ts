import { JsonRpcProvider } from 'ethers'
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  fromRlp,
  type Hex,
  http,
  keccak256,
  parseAbi,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import {
  type AccountProof,
  decodeHeader,
  fullHeader,
  VerificationError,
  verifyAccountProof,
  verifyHeader,
  verifyReceiptProof,
} from '../src/verify/index.ts'
import { counter } from './contract.ts'
import { NodeProcess } from './node.ts'

const from = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const abi = parseAbi(['function increase(uint256 step) returns (uint256)'])
const nobody = `0x${'9a'.repeat(20)}` as Address

interface Receipt {
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly blockHash: Hex
  readonly contractAddress: Address
  readonly gasUsed: Hex
  readonly logs: readonly { address: Hex; topics: Hex[]; data: Hex }[]
}

let node: NodeProcess
let deployed: Receipt
let increased: Receipt

beforeAll(async () => {
  node = await NodeProcess.start([], 'modules.debug.enabled = true\nchoices.absentBlock = "refuse"\n')
  deployed = await send({ data: `${counter.bytecode}${'28'.padStart(64, '0')}` })
  const data = encodeFunctionData({ abi, functionName: 'increase', args: [2n] })
  increased = await send({ to: deployed.contractAddress, data })
})
afterAll(() => node?.stop())

async function send(transaction: object): Promise<Receipt> {
  const hash = await node.result<Hex>('eth_sendTransaction', [{ from, gas: '0x100000', ...transaction }])
  return node.result('eth_getTransactionReceipt', [hash])
}

/** Returns the fault of a verification that must fail. */
function faultOf(attempt: () => unknown): string | undefined {
  try {
    attempt()
  } catch (error) {
    if (error instanceof VerificationError) return error.fault
    throw error
  }
  return undefined
}

/** Returns copies of a text, each with one byte changed. */
function* changes(hex: string): Generator<Hex> {
  for (let at = 2; at < hex.length; at += 2) {
    const changed = (Number.parseInt(hex.slice(at, at + 2), 16) ^ 0x41).toString(16).padStart(2, '0')
    yield `${hex.slice(0, at)}${changed}${hex.slice(at + 2)}` as Hex
  }
}

const rawHeader = async (block = 'latest') => node.result<Hex>('debug_getRawHeader', [block])
const proofOf = (address: string, keys: readonly string[], block: unknown = 'latest') =>
  node.result<AccountProof>('eth_getProof', [address, keys, block])

describe('eth_getProof', () => {
  const keys = ['0x0', `0x${'01'.padStart(64, '0')}`]

  test('behavior: a contract, an account and an absent account, against a header with its proof of work', async () => {
    const header = verifyHeader(await rawHeader(), 'regtest')
    const contract = await proofOf(deployed.contractAddress, keys)
    const asked = { address: deployed.contractAddress, storageKeys: keys }
    const code = await node.result<Hex>('eth_getCode', [deployed.contractAddress, 'latest'])
    expect(verifyAccountProof(header, asked, contract)).toMatchObject({
      exists: true,
      balance: 0n,
      codeHash: keccak256(code),
      storage: [42n, 0n],
    })
    expect(contract.storageProof.map(({ key, value }) => [key, value])).toEqual([
      ['0x0', '0x2a'],
      ['0x1', '0x0'],
    ])
    const account = verifyAccountProof(header, { address: from }, await proofOf(from, []))
    expect(account.nonce).toBe(2n)
    expect(account.balance).toBe(BigInt(await node.result<Hex>('eth_getBalance', [from, 'latest'])))
    const none = await proofOf(nobody, keys)
    expect(none).toMatchObject({ balance: '0x0', nonce: '0x0', storageProof: [{ proof: [] }, { proof: [] }] })
    const absent = verifyAccountProof(header, { address: nobody, storageKeys: keys }, none)
    expect(absent).toMatchObject({ exists: false, storage: [0n, 0n] })
  })

  test('behavior: at blocks by number, hash and object', async () => {
    const { blockHash } = deployed
    for (const block of ['0x1', blockHash, { blockHash }, { blockNumber: '0x1' }]) {
      const proof = await proofOf(deployed.contractAddress, ['0x0'], block)
      const header = decodeHeader(await rawHeader('0x1'), 'regtest')
      const asked = { address: deployed.contractAddress, storageKeys: ['0x0'] }
      expect(verifyAccountProof(header, asked, proof).storage).toEqual([40n])
    }
    const genesis = decodeHeader(await rawHeader('earliest'), 'regtest')
    expect(genesis.hash).toBe((await node.result<{ hash: Hex }>('eth_getBlockByNumber', ['earliest'])).hash)
    const before = await proofOf(deployed.contractAddress, [], 'earliest')
    expect(verifyAccountProof(genesis, { address: deployed.contractAddress }, before).exists).toBe(false)
  })

  test('behavior: elements are RLP byte strings; the first one is the root of the state', async () => {
    const { stateRoot } = decodeHeader(await rawHeader(), 'regtest')
    const proof = await proofOf(deployed.contractAddress, ['0x0'])
    expect(keccak256(fromRlp(proof.accountProof[0] as Hex, 'hex') as Hex)).toBe(stateRoot)
    const [top] = proof.storageProof[0]?.proof ?? []
    expect(keccak256(fromRlp(top as Hex, 'hex') as Hex)).toBe(proof.storageHash)
  })

  test('error: every changed byte of every element', async () => {
    const header = decodeHeader(await rawHeader(), 'regtest')
    for (const address of [deployed.contractAddress, from, nobody]) {
      const proof = await proofOf(address, keys)
      const check = (changed: AccountProof) =>
        faultOf(() => verifyAccountProof(header, { address, storageKeys: keys }, changed))
      expect(check(proof)).toBeUndefined()
      for (const [index, element] of proof.accountProof.entries()) {
        for (const changed of changes(element)) {
          expect(check({ ...proof, accountProof: proof.accountProof.with(index, changed) })).toBeDefined()
        }
      }
      for (const [place, cell] of proof.storageProof.entries()) {
        for (const [index, element] of cell.proof.entries()) {
          for (const changed of changes(element)) {
            const storageProof = proof.storageProof.with(place, { ...cell, proof: cell.proof.with(index, changed) })
            expect(check({ ...proof, storageProof })).toBeDefined()
          }
        }
      }
    }
  })

  test('behavior: viem, ethers and web3.js', async () => {
    const header = decodeHeader(await rawHeader(), 'regtest')
    const address = deployed.contractAddress
    const slot = `0x${'00'.repeat(32)}` as const
    const viem = await createPublicClient({ transport: http(node.url) }).getProof({ address, storageKeys: [slot] })
    expect(viem).toMatchObject({ nonce: 0, balance: 0n, storageProof: [{ value: 42n }] })
    expect(verifyAccountProof(header, { address, storageKeys: [slot] }, viem).storage).toEqual([42n])

    const provider = new JsonRpcProvider(node.url)
    const ethers = await provider.send('eth_getProof', [address, [slot], 'latest'])
    provider.destroy()
    expect(verifyAccountProof(header, { address, storageKeys: [slot] }, ethers).storage).toEqual([42n])

    const web3 = await new Web3(node.url).eth.getProof(address, [slot])
    expect(web3).toMatchObject({ balance: 0n, nonce: 0n, storageProof: [{ value: 42n }] })
  })

  test('error: a state that was changed by hand is not proven by its header', async () => {
    const snapshot = await node.result('evm_snapshot')
    await node.result('hardhat_setBalance', [deployed.contractAddress, '0x1'])
    const { error } = await node.ask('eth_getProof', [deployed.contractAddress, [], 'latest'])
    expect(error).toMatchObject({ code: -32000, message: expect.stringContaining('changed by hand') })
    await node.result('evm_revert', [snapshot])
  })
})

describe('rpc.proofFormat = "rskj"', () => {
  test('behavior: leaf first, slots from the state root, keys of 32 bytes; the verifier understands it', async () => {
    const other = await NodeProcess.start([], 'modules.debug.enabled = true\nrpc.proofFormat = "rskj"\n')
    try {
      const data = `${counter.bytecode}${'28'.padStart(64, '0')}`
      const hash = await other.result<Hex>('eth_sendTransaction', [{ from, gas: '0x100000', data }])
      const { contractAddress } = await other.result<Receipt>('eth_getTransactionReceipt', [hash])
      const header = decodeHeader(await other.result<Hex>('debug_getRawHeader', ['latest']), 'regtest')
      const key = `0x${'00'.repeat(32)}`
      const asked = { address: contractAddress, storageKeys: [key] }
      const proof = await other.result<AccountProof>('eth_getProof', [contractAddress, ['0x0'], 'latest'])
      const [slot] = proof.storageProof as [AccountProof['storageProof'][number]]
      expect(slot).toMatchObject({ key, value: '0x28' })
      const hashOf = (element: string | undefined) => keccak256(fromRlp(element as Hex, 'hex') as Hex)
      expect([hashOf(proof.accountProof.at(-1)), hashOf(slot.proof.at(-1))]).toEqual([
        header.stateRoot,
        header.stateRoot,
      ])
      // The way to the slot passes the account.
      expect(slot.proof.slice(-proof.accountProof.length)).toEqual(proof.accountProof)
      expect(verifyAccountProof(header, asked, proof)).toMatchObject({ exists: true, storage: [40n] })

      const check = (changed: AccountProof) => faultOf(() => verifyAccountProof(header, asked, changed))
      for (const [index, element] of slot.proof.entries()) {
        for (const changed of changes(element)) {
          const storageProof = [{ ...slot, proof: slot.proof.with(index, changed) }]
          expect(check({ ...proof, storageProof })).toBeDefined()
        }
      }
      expect(check({ ...proof, storageProof: [{ ...slot, value: '0x29' }] })).toBe('claim')

      const none = await other.result<AccountProof>('eth_getProof', [nobody, ['0x1'], 'latest'])
      expect(none).toEqual({
        address: nobody,
        accountProof: [],
        balance: '0x0',
        codeHash: `0x${'00'.repeat(32)}`,
        nonce: '0x0',
        storageHash: keccak256('0x80'),
        storageProof: [{ key: `0x${'1'.padStart(64, '0')}`, value: '0x0', proof: [] }],
      })
      expect(faultOf(() => verifyAccountProof(header, { address: nobody, storageKeys: ['0x1'] }, none))).toBe('proof')
    } finally {
      await other.stop()
    }
  })
})

describe('receipts', () => {
  test('behavior: a receipt is proven against its header', async () => {
    const { transactionHash, transactionIndex, blockHash, gasUsed, logs } = increased
    const header = verifyHeader(await rawHeader(blockHash), 'regtest')
    const raw = await node.result<Hex>('rsk_getRawTransactionReceiptByHash', [transactionHash])
    const nodes = await node.result<Hex[]>('rsk_getTransactionReceiptNodesByHash', [blockHash, transactionHash])
    expect(keccak256(nodes.at(-1) as Hex)).toBe(header.receiptsRoot)
    const index = Number(transactionIndex)
    const receipt = verifyReceiptProof(header, index, raw, nodes)
    expect(receipt).toMatchObject({ isSuccess: true, gasUsed: BigInt(gasUsed) })
    expect(receipt.logs).toEqual(logs.map(({ address, topics, data }) => ({ address, topics, data })))

    for (const changed of changes(raw)) {
      expect(faultOf(() => verifyReceiptProof(header, index, changed, nodes))).toBe('claim')
    }
    for (const [at, element] of nodes.entries()) {
      for (const changed of changes(element)) {
        expect(faultOf(() => verifyReceiptProof(header, index, raw, nodes.with(at, changed)))).toBeDefined()
      }
    }
    expect(faultOf(() => verifyReceiptProof(header, index + 1, raw, nodes))).toBeDefined()
    expect(faultOf(() => verifyReceiptProof(header, -1, raw, nodes))).toBe('malformed')
  })

  test('behavior: eth_getBlockReceipts agrees with eth_getTransactionReceipt', async () => {
    const { transactions } = await node.result<{ transactions: Hex[] }>('eth_getBlockByNumber', ['latest'])
    const single = await Promise.all(transactions.map((hash) => node.result('eth_getTransactionReceipt', [hash])))
    expect(single.length).toBe(2)
    for (const block of ['latest', increased.blockHash, { blockHash: increased.blockHash }]) {
      expect(await node.result('eth_getBlockReceipts', [block])).toEqual(single)
    }
    expect(await node.result('eth_getBlockReceipts', ['0x99'])).toBeNull()
    const viem = createPublicClient({ transport: http(node.url) })
    const [receipt] = await viem.getBlockReceipts({ blockTag: 'latest' })
    expect(receipt).toMatchObject({ status: 'success', gasUsed: BigInt(increased.gasUsed) })
    expect(await viem.getTransactionReceipt({ hash: increased.transactionHash })).toEqual(receipt)
  })
})

describe('raw forms', () => {
  test('behavior: a block is its header, its transactions and its uncles', async () => {
    const block = fromRlp(await node.result<Hex>('debug_getRawBlock', ['latest']), 'hex') as unknown as [Hex[], Hex[][]]
    const header = fromRlp(await rawHeader(), 'hex') as unknown as Hex[]
    expect(block[0]).toEqual(header)
    const [first] = block[1]
    const raw = await node.result<Hex>('eth_getRawTransactionByHash', [increased.transactionHash])
    expect(fromRlp(raw, 'hex')).toEqual(first)
    expect(keccak256(raw)).toBe(increased.transactionHash)
    const others: [string, unknown[]][] = [
      ['debug_getRawTransaction', [increased.transactionHash]],
      ['eth_getRawTransactionByBlockHashAndIndex', [increased.blockHash, '0x0']],
      ['eth_getRawTransactionByBlockNumberAndIndex', ['latest', '0x0']],
    ]
    for (const [method, params] of others) expect(await node.result(method, params)).toBe(raw)
    const receipts = await node.result<Hex[]>('debug_getRawReceipts', ['latest'])
    const receipt = await node.result<Hex>('chain_getRawTransactionReceiptByHash', [increased.transactionHash])
    expect([receipts[0], receipts.length]).toEqual([receipt, 2])
  })

  test('behavior: both names of a method give the same answer', async () => {
    const { transactionHash, blockHash } = increased
    const calls: [string, unknown[]][] = [
      ['getRawTransactionReceiptByHash', [transactionHash]],
      ['getTransactionReceiptNodesByHash', [blockHash, transactionHash]],
      ['getRawBlockHeaderByHash', [blockHash]],
      ['getRawBlockHeaderByNumber', ['latest']],
      ['protocolVersion', []],
    ]
    for (const [name, params] of calls) {
      const answer = await node.result(`rsk_${name}`, params)
      expect(answer).toBeTruthy()
      expect(await node.result(`chain_${name}`, params)).toEqual(answer)
    }
  })

  test('behavior: the full header is the raw one with Merkle proof and coinbase of the block', async () => {
    const { blockHash } = increased
    const raw = await node.result<Hex>('rsk_getRawBlockHeaderByHash', [blockHash])
    const full = await rawHeader(blockHash)
    expect(fromRlp(raw, 'hex')).toEqual((fromRlp(full, 'hex') as unknown as Hex[]).slice(0, -2))
    expect(fullHeader(raw, await node.result('eth_getBlockByHash', [blockHash]))).toBe(full)
    expect(faultOf(() => verifyHeader(raw, 'regtest'))).toBe('malformed')
  })

  test('behavior: a header is a block without size, transactions and uncles', async () => {
    const block = await node.result<Record<string, unknown>>('eth_getBlockByNumber', ['latest'])
    const { size: _size, transactions: _transactions, uncles: _uncles, ...header } = block
    expect(await node.result('eth_getHeaderByNumber', ['latest'])).toEqual(header)
    expect(await node.result('eth_getHeaderByHash', [increased.blockHash])).toEqual(header)
  })

  test('behavior: unknown blocks and transactions are null', async () => {
    const none = `0x${'ab'.repeat(32)}`
    const calls: [string, unknown[]][] = [
      ['debug_getRawBlock', ['0x99']],
      ['debug_getRawHeader', [none]],
      ['debug_getRawReceipts', ['0x99']],
      ['debug_getRawTransaction', [none]],
      ['eth_getHeaderByHash', [none]],
      ['eth_getHeaderByNumber', ['0x99']],
      ['eth_getRawTransactionByHash', [none]],
      ['eth_getRawTransactionByBlockHashAndIndex', [none, '0x0']],
      ['eth_getRawTransactionByBlockNumberAndIndex', ['latest', '0x7']],
      ['rsk_getRawBlockHeaderByHash', [none]],
      ['rsk_getRawTransactionReceiptByHash', [none]],
      ['rsk_getTransactionReceiptNodesByHash', [none, none]],
      ['rsk_getTransactionReceiptNodesByHash', [increased.blockHash, none]],
    ]
    for (const [method, params] of calls) expect([method, await node.result(method, params)]).toEqual([method, null])
  })
})

describe('fees', () => {
  test('behavior: a history of minimum gas prices', async () => {
    const block = await node.result<{ gasUsed: Hex; gasLimit: Hex }>('eth_getBlockByNumber', ['latest'])
    const history = await node.result('eth_feeHistory', ['0x2', 'latest', [0, 50, 100]])
    expect(history).toEqual({
      oldestBlock: '0x1',
      baseFeePerGas: ['0x0', '0x0', '0x0'],
      gasUsedRatio: [expect.any(Number), Number(block.gasUsed) / Number(block.gasLimit)],
      reward: [
        ['0x0', '0x0', '0x0'],
        ['0x0', '0x0', '0x0'],
      ],
    })
    const paid = await send({ to: nobody, value: '0x1', gasPrice: '0x7' })
    const { reward } = await node.result<{ reward: Hex[][] }>('eth_feeHistory', [1, paid.blockHash, [50]])
    expect(reward).toEqual([['0x7']])
    // A count that reaches beyond the genesis block returns all blocks.
    expect((await node.result<{ gasUsedRatio: number[] }>('eth_feeHistory', [1000, '0x1'])).gasUsedRatio.length).toBe(2)
    const pending = await node.result<{ oldestBlock: Hex; reward?: unknown }>('eth_feeHistory', ['0x1', 'pending'])
    expect([pending.oldestBlock, pending.reward]).toEqual(['0x4', undefined])
  })

  test('behavior: viem, ethers and web3.js', async () => {
    const viem = createPublicClient({ transport: http(node.url) })
    const history = await viem.getFeeHistory({ blockCount: 2, rewardPercentiles: [25, 75] })
    expect([history.baseFeePerGas.length, history.reward?.length]).toEqual([3, 2])
    expect(await viem.request({ method: 'eth_maxPriorityFeePerGas' })).toBe('0x0')
    const web3 = await new Web3(node.url).eth.getFeeHistory(2, 'latest', [25])
    expect((web3.baseFeePerGas as unknown as bigint[]).length).toBe(3)
    const provider = new JsonRpcProvider(node.url)
    // Without a base fee, a transaction has only a gas price.
    expect(await provider.getFeeData()).toMatchObject({ gasPrice: 0n, maxFeePerGas: null, maxPriorityFeePerGas: null })
    provider.destroy()
  })
})

const wrong: [method: string, params: unknown[], code: number, message: RegExp][] = [
  ['eth_getProof', [], -32602, /takes \[address, storageKeys, block\?\], got 0/],
  ['eth_getProof', [from], -32602, /method parameters invalid/],
  ['eth_getProof', ['0x12', []], -32602, /Invalid address/],
  ['eth_getProof', [from, '0x0'], -32602, /storageKeys: expected an array/],
  ['eth_getProof', [from, {}], -32602, /storageKeys: expected an array/],
  ['eth_getProof', [from, ['0x0', 'zz']], -32602, /storageKeys\[1\]/],
  ['eth_getProof', [from, [null]], -32602, /storageKeys\[0\]/],
  ['eth_getProof', [from, [`0x1${'00'.repeat(32)}`]], -32602, /storageKeys\[0\]/],
  ['eth_getProof', [from, Array(1025).fill('0x0')], -32602, /more than 1024 elements/],
  ['eth_getProof', [from, [], 'pending'], -32602, /'pending' is not supported/],
  ['eth_getProof', [from, [], 'soon'], -32602, /soon/],
  ['eth_getProof', [from, [], '0x99'], -32600, /^Block 0x99 not found/],
  ['eth_getProof', [from, [], { blockHash: `0x${'ab'.repeat(32)}` }], -32600, /not found/],
  ['eth_getBlockReceipts', [], -32602, /takes \[block\]/],
  ['eth_getBlockReceipts', ['pending'], -32602, /'pending' is not supported/],
  ['eth_getBlockReceipts', [5], -32602, /Invalid input/],
  ['eth_feeHistory', ['0x1'], -32602, /takes \[blockCount, newestBlock, rewardPercentiles\?\]/],
  ['eth_feeHistory', ['0x0', 'latest'], -32602, /at least 1/],
  ['eth_feeHistory', ['zz', 'latest'], -32602, /blockCount/],
  ['eth_feeHistory', ['0x1', '0x99'], -32600, /not found/],
  ['eth_feeHistory', ['0x1', 'latest', 50], -32602, /rewardPercentiles/],
  ['eth_feeHistory', ['0x1', 'latest', ['50']], -32602, /rewardPercentiles\[0\]/],
  ['eth_feeHistory', ['0x1', 'latest', [101]], -32602, /rewardPercentiles\[0\]/],
  ['eth_feeHistory', ['0x1', 'latest', [60, 50]], -32602, /rise from 0 to 100/],
  ['eth_feeHistory', ['0x1', 'latest', Array(101).fill(1)], -32602, /more than 100/],
  ['eth_maxPriorityFeePerGas', [1], -32602, /takes no parameters/],
  ['eth_getHeaderByHash', ['0x12'], -32602, /Invalid block hash/],
  ['eth_getHeaderByNumber', ['pending'], -32602, /'pending' is not supported/],
  ['eth_getHeaderByNumber', [null], -32602, /block/],
  ['eth_getRawTransactionByHash', ['0x12'], -32602, /Invalid transaction hash/],
  ['eth_getRawTransactionByBlockHashAndIndex', [`0x${'ab'.repeat(32)}`, 0], -32602, /index/],
  ['eth_getRawTransactionByBlockNumberAndIndex', ['pending', '0x0'], -32602, /'pending' is not supported/],
  ['debug_getRawHeader', ['4'], -32602, /invalid blocknumber 4/],
  ['debug_getRawBlock', [], -32602, /takes \[block\]/],
  ['debug_getRawReceipts', [{}], -32602, /Invalid block input/],
  ['debug_getRawTransaction', [], -32602, /debug_getRawTransaction takes \[transactionHash\]/],
  ['rsk_getRawBlockHeaderByNumber', ['zz'], -32602, /invalid blocknumber zz/],
  ['chain_getRawBlockHeaderByNumber', [4], -32602, /invalid blocknumber 4/],
  ['rsk_getStorageBytesAt', [from, '0x0', 'latest'], -32601, /rsk_getStorageBytesAt does not exist/],
  ['chain_getStorageBytesAt', [from, '0x0', 'latest'], -32601, /chain_getStorageBytesAt does not exist/],
  // Access lists save no gas on Rootstock, so there is no method to create them.
  ['eth_createAccessList', [{}], -32601, /method not found/],
  ['eth_blobBaseFee', [], -32601, /method not found/],
]

test.each(wrong)('error: %s %j', async (method, params, code, message) => {
  const { error } = await node.ask(method, params)
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
})
