// Workloads that only read: requests on a prepared chain, and checks of their results. Requests use many accounts,
// transactions and blocks, so that a cached last answer is no advantage.
import { balanceSlot, encode, markCount, markTopic, quantity, rounds, transferTopic } from '../chain/prepare.mjs'
import { is, NotServed } from './learn.mjs'

const several = 200
const few = 20
const isHash = (text) => /^0x[0-9a-f]{64}$/.test(text)
const word = (value) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
const request = (method, params, check) => ({ method, params, check })

const holdersOf = ({ holders }) => holders.slice(0, several)
const transfersOf = ({ transfers }) => Array.from({ length: several }, (_none, index) => transfers[index * 5])

function fullBlocksOf({ fullBlocks }) {
  if (fullBlocks.length < few) throw new NotServed('transactions cannot be put into one block')
  return fullBlocks
}

const balances = (chain) =>
  holdersOf(chain).map(({ address }) =>
    request('eth_getBalance', [address, 'latest'], (result) => BigInt(result) > 0n && BigInt(result) <= 10n ** 18n),
  )

const tokenBalances = (chain) =>
  holdersOf(chain).map(({ address }) => {
    const call = { to: chain.contract, data: encode('balanceOf', [address]) }
    return request('eth_call', [call, 'latest'], is(word(chain.balances.get(address))))
  })

const computations = (chain) =>
  Array.from({ length: few }, (_none, index) => {
    const call = { to: chain.contract, data: encode('hashRounds', [rounds + index]), gas: quantity(5_000_000n) }
    return request('eth_call', [call, 'latest'], isHash)
  })

const estimates = (chain) =>
  holdersOf(chain).map(({ address }) => {
    const transfer = { from: address, to: chain.contract, data: encode('transfer', [chain.holders[0].address, 1n]) }
    return request('eth_estimateGas', [transfer], (gas) => BigInt(gas) > 21_000n && BigInt(gas) < 100_000n)
  })

const receipts = (chain) =>
  transfersOf(chain).map(({ hash, from }) =>
    request('eth_getTransactionReceipt', [hash], (receipt) => {
      return receipt.transactionHash === hash && receipt.from === from && receipt.logs.length === 1
    }),
  )

const blocks = (chain, isFull) =>
  fullBlocksOf(chain).map(({ number, hash, transfers }) =>
    request('eth_getBlockByNumber', [number, isFull], (block) => {
      const found = new Set(block.transactions.map((one) => (isFull ? one.hash : one)))
      return block.hash === hash && transfers.every((transfer) => found.has(transfer.hash))
    }),
  )

const logsOfBlocks = (chain) =>
  fullBlocksOf(chain).map(({ number, transfers }) => {
    const filter = { fromBlock: number, toBlock: number, address: chain.contract, topics: [transferTopic] }
    return request('eth_getLogs', [filter], (logs) => logs.length === transfers.length)
  })

/** A search for ten marks in `length` blocks. */
const sparseLogs = (length) => (chain) => {
  const found = chain.marks.find((one) => one.length === length)
  if (found === undefined) throw new NotServed(`its chain is shorter than ${length} blocks`)
  const range = { fromBlock: quantity(chain.head - length + 1), toBlock: quantity(chain.head) }
  const filter = { ...range, address: chain.contract, topics: [markTopic, found.series] }
  return [request('eth_getLogs', [filter], (logs) => logs.length === markCount)]
}

const batchesOf = (size) => (chain) => {
  const calls = balances(chain)
  return Array.from({ length: several / size }, (_none, index) => calls.slice(index * size, (index + 1) * size))
}

const repeated = (times, requests) => Array.from({ length: times }, () => requests).flat()
const chainId = (chain) => request('eth_chainId', [], is(quantity(chain.chainId)))
const blockNumber = (chain) => request('eth_blockNumber', [], is(quantity(chain.head)))

/** Requests of a page of a decentralized application, in the shares that providers publish. */
function dappTraffic(chain) {
  const shares = [
    [tokenBalances(chain), 80],
    [repeated(50, [blockNumber(chain)]), 50],
    [balances(chain), 25],
    [receipts(chain), 25],
    [repeated(20, [chainId(chain)]), 20],
    [estimates(chain), 10],
    [chain.fullBlocks.length < few ? [] : blocks(chain, false), 10],
    [chain.fullBlocks.length < few ? [] : logsOfBlocks(chain), 5],
    [gasPrice(), 5],
  ]
  const all = shares.flatMap(([requests, count]) => requests.slice(0, count))
  // Shuffled by a fixed step that is coprime to the number of requests.
  return all.map((_one, index) => all[(index * 89) % all.length])
}

const gasPrice = () => [request('eth_gasPrice', [], (price) => BigInt(price) >= 0n)]

/** Workloads in the order of the report. `bar` is the required share of the ceiling. */
export const reads = [
  { name: 'eth_chainId', bar: 0.85, requests: (chain) => [chainId(chain)] },
  { name: 'eth_blockNumber', bar: 0.85, requests: (chain) => [blockNumber(chain)] },
  { name: 'eth_gasPrice', requests: gasPrice },
  { name: 'eth_getBalance', bar: 0.6, requests: balances },
  {
    name: 'eth_getTransactionCount',
    bar: 0.6,
    requests: (chain) =>
      holdersOf(chain).map(({ address, nonce }) =>
        request('eth_getTransactionCount', [address, 'latest'], is(quantity(nonce))),
      ),
  },
  {
    name: 'eth_getStorageAt',
    bar: 0.6,
    requests: (chain) =>
      holdersOf(chain).map(({ address }) => {
        const parameters = [chain.contract, balanceSlot(address), 'latest']
        return request('eth_getStorageAt', parameters, (value) => BigInt(value) === chain.balances.get(address))
      }),
  },
  {
    name: 'eth_getCode',
    requests: (chain) => [
      request('eth_getCode', [chain.contract, 'latest'], (code) => /^0x60[0-9a-f]{2000,}$/.test(code)),
    ],
  },
  { name: 'eth_call, balanceOf', bar: 0.4, requests: tokenBalances },
  { name: 'eth_call, 1,000 rounds of Keccak', requests: computations },
  { name: 'eth_estimateGas', requests: estimates },
  { name: 'eth_getBlockByNumber, hashes', bar: 0.6, requests: (chain) => blocks(chain, false) },
  { name: 'eth_getBlockByNumber, 50 transactions', requests: (chain) => blocks(chain, true) },
  {
    name: 'eth_getTransactionByHash',
    bar: 0.6,
    requests: (chain) =>
      transfersOf(chain).map(({ hash, from }) =>
        request('eth_getTransactionByHash', [hash], (found) => found.hash === hash && found.from === from),
      ),
  },
  { name: 'eth_getTransactionReceipt', bar: 0.6, requests: receipts },
  {
    name: 'eth_getBlockReceipts',
    requests: (chain) =>
      fullBlocksOf(chain).map(({ number, transfers }) =>
        request('eth_getBlockReceipts', [number], (found) => {
          const hashes = new Set(found.map(({ transactionHash }) => transactionHash))
          return transfers.every(({ hash }) => hashes.has(hash))
        }),
      ),
  },
  { name: 'eth_getLogs, one block', requests: logsOfBlocks },
  { name: 'eth_getLogs, 1,000 blocks', requests: sparseLogs(1000) },
  { name: 'eth_getLogs, 10,000 blocks', requests: sparseLogs(10_000) },
  { name: 'eth_getLogs, 100,000 blocks', requests: sparseLogs(100_000) },
  { name: 'batch of 20', calls: 20, requests: batchesOf(20) },
  { name: 'batch of 100', calls: 100, requests: batchesOf(100) },
  {
    // The call tracer: the results of opcode tracers differ between nodes in form and size.
    name: 'debug_traceTransaction',
    requests: (chain) =>
      transfersOf(chain).map(({ hash, from }) =>
        request('debug_traceTransaction', [hash, { tracer: 'callTracer' }], (trace) => {
          const { type, to, output, gasUsed } = trace
          // The reference returns no output; the gas used shows that the code ran.
          const isRun = BigInt(output) === 1n || (output === '0x0' && BigInt(gasUsed) > 25_000n)
          return type === 'CALL' && trace.from === from && to === chain.contract && isRun
        }),
      ),
  },
  {
    name: 'eth_getProof',
    requests: (chain) =>
      holdersOf(chain).map(({ address }) => {
        const parameters = [chain.contract, [balanceSlot(address)], 'latest']
        return request('eth_getProof', parameters, ({ accountProof, storageProof: [cell] }) => {
          return accountProof.length > 0 && BigInt(cell.value) === chain.balances.get(address)
        })
      }),
  },
  { name: 'traffic of a dApp', requests: dappTraffic },
]
