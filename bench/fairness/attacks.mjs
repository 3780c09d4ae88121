// Bodies and batches that are expensive for a worker, sent by the benchmark `fairness` from many connections.

import { quantity } from '../chain/prepare.mjs'
import { Account } from '../chain/transaction.mjs'

/** The default limit of a body on a private address. */
const limit = 5_242_880
/** Bodies up to this size are parsed by the worker. */
const small = 65_536

const call = (method, params, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method, params })
const batch = (count, make) => `[${Array.from({ length: count }, (_none, index) => make(index)).join(',')}]`
/** Repeats `piece` up to a total of `bytes`. */
const filled = (bytes, head, piece, tail, separator = ',') => {
  const count = Math.floor((bytes - head.length - tail.length) / (piece.length + separator.length))
  return head + Array(count).fill(piece).join(separator) + tail
}
const hex = (index, digits) => index.toString(16).padStart(digits, '0')
const addressOf = (index) => `0x${hex(index + 1, 40)}`
const wordOf = (index) => `0x${hex(index + 1, 64)}`
const entries = (count, make) => Object.fromEntries(Array.from({ length: count }, (_none, index) => make(index)))
const rawCall = (method, params) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
const emptyCalls = (bytes, to) => filled(bytes, '[', `{"to":"${to}"}`, ']')

/** Single bodies. */
export const bodies = {
  '`[` x 900, repeated': () => filled(limit, '[', '['.repeat(900) + ']'.repeat(900), ']'),
  '`[` without end': () => '['.repeat(limit),
  '`{},{},...`': () => filled(limit, '[', '{}', ']'),
  '`1,1,...` as parameters': () => filled(limit, '{"id":1,"method":"eth_call","params":[', '1', ']}'),
  'letters that are no JSON': () => 'x'.repeat(limit),
  'not UTF-8 at its end': () =>
    Buffer.concat([Buffer.from(`"${'é'.repeat(limit / 2 - 2)}`), Buffer.from([0xff, 0x22])]),
  'a number of 5 MB': () => `{"id":1,"method":"eth_call","params":[${'7'.repeat(limit - 60)}]}`,
  'an id of 5 MB, escaped': () => filled(limit, '{"id":"', '\\u00e9', '","method":"eth_blockNumber"}', ''),
  'a method of 5 MB, escaped': () => filled(limit, '{"id":1,"method":"', '\\u00e9', '"}', ''),
  '400,000 members': () => {
    const members = Array.from({ length: 400_000 }, (_none, index) => `"k${index}":1`)
    return `{"id":1,"method":"eth_blockNumber",${members.join(',')}}`
  },
  'spaces around a request': () => `${' '.repeat(limit - 100)}${call('eth_blockNumber', [])}`,
  '70,000 accounts in overrides': ({ contract }) =>
    call('eth_call', [{ to: contract }, 'latest', entries(70_000, (index) => [addressOf(index), { nonce: '0x1' }])]),
  '30,000 slots in overrides': ({ contract }) =>
    call('eth_call', [
      { to: contract },
      'latest',
      { [contract]: { stateDiff: entries(30_000, (index) => [wordOf(index), wordOf(index)]) } },
    ]),
  '45,000 calls in a simulation': ({ contract }) =>
    rawCall('eth_simulateV1', `[{"blockStateCalls":[{"calls":${emptyCalls(45_000 * 50, contract)}}]}]`),
  '49,000 addresses in a log filter': () =>
    call('eth_getLogs', [
      { fromBlock: '0x0', address: Array.from({ length: 49_000 }, (_none, index) => addressOf(index)) },
    ]),
  '49,000 topics in a new filter': () =>
    call('eth_newFilter', [{ topics: [Array.from({ length: 49_000 }, (_none, index) => wordOf(index))] }]),
  '49,000 addresses in a trace filter': () =>
    call('trace_filter', [
      { fromBlock: '0x1', toAddress: Array.from({ length: 49_000 }, (_none, index) => addressOf(index)) },
    ]),
  '49,000 keys to prove': ({ contract }) =>
    call('eth_getProof', [contract, Array.from({ length: 49_000 }, (_none, index) => wordOf(index)), 'latest']),
  'a raw transaction of 5 MB': () => rawCall('eth_sendRawTransaction', `["0x${'ab'.repeat(limit / 2 - 100)}"]`),
  'a call with 5 MB of data': ({ contract }) =>
    rawCall('eth_call', `[{"to":"${contract}","data":"0x${'ab'.repeat(limit / 2 - 100)}"},"latest"]`),
  'a hash of 5 MB': () => rawCall('web3_sha3', `["0x${'ab'.repeat(limit / 2 - 100)}"]`),
  'a block named by 5 MB': () => rawCall('eth_getBlockByNumber', `["${'z'.repeat(limit - 200)}",false]`),
  'typed data of 64 KB': ({ contract }) =>
    call('eth_signTypedData_v4', [
      contract,
      {
        types: {
          EIP712Domain: [],
          A: Array.from({ length: 1000 }, (_none, index) => ({ name: `m${index}`, type: 'uint256' })),
        },
        primaryType: 'A',
        domain: {},
        message: entries(1000, (index) => [`m${index}`, 1]),
      },
    ]),
  '64 KB of `{},{},...`': () => filled(small, '[', '{}', ']'),
  '64 KB of `[` and `]`': () => filled(small, '[', '['.repeat(60) + ']'.repeat(60), ']'),
  '64 KB in an id, escaped': () => filled(small, '{"id":"', '\\u00e9', '","method":"eth_blockNumber"}', ''),
  '64 KB of accounts in overrides': ({ contract }) =>
    call('eth_call', [{ to: contract }, 'latest', entries(900, (index) => [addressOf(index), { nonce: '0x1' }])]),
}

/** Batches with the maximum number of requests. */
export const batches = {
  '50 simulations, 250 blocks each': ({ contract }) =>
    batch(50, (id) =>
      call(
        'eth_simulateV1',
        [{ blockStateCalls: Array.from({ length: 250 }, () => ({ calls: [{ to: contract }] })) }, 'latest'],
        id,
      ),
    ),
  '50 simulations, full transactions': ({ contract }) =>
    batch(50, (id) =>
      call(
        'eth_simulateV1',
        [
          {
            returnFullTransactions: true,
            traceTransfers: true,
            blockStateCalls: Array.from({ length: 10 }, () => ({
              calls: Array(20).fill({ to: contract, value: '0x0' }),
            })),
          },
          'latest',
        ],
        id,
      ),
    ),
  '50 proofs of 1,000 slots': ({ contract }) =>
    batch(50, (id) =>
      call(
        'eth_getProof',
        [contract, Array.from({ length: 1000 }, (_none, index) => quantity(id * 1000 + index)), 'latest'],
        id,
      ),
    ),
  '50 proofs of 8 slots': ({ contract }) =>
    batch(50, (id) =>
      call(
        'eth_getProof',
        [contract, Array.from({ length: 8 }, (_none, index) => quantity(id * 8 + index)), 'latest'],
        id,
      ),
    ),
  '50 blocks with transactions': ({ fullBlocks }) =>
    batch(50, (id) => call('eth_getBlockByNumber', [fullBlocks[id % fullBlocks.length].number, true], id)),
  '50 receipts of blocks': ({ fullBlocks }) =>
    batch(50, (id) => call('eth_getBlockReceipts', [fullBlocks[id % fullBlocks.length].number], id)),
  '50 searches of all logs': () => batch(50, (id) => call('eth_getLogs', [{ fromBlock: '0x0' }], id)),
  '50 traces of blocks': ({ fullBlocks }) =>
    batch(50, (id) => call('trace_block', [fullBlocks[id % fullBlocks.length].number], id)),
  '50 calls, 300 µs each': ({ contract }) =>
    batch(50, (id) =>
      call('eth_call', [{ to: contract, data: `0x${'00'.repeat(2000)}`, gas: quantity(5_000_000n) }, 'latest'], id),
    ),
  '50 descriptions of the API': () => batch(50, (id) => call('rpc_discover', [], id)),
  '50 signatures to recover': () => {
    const account = new Account('nobody')
    return batch(50, (id) => call('personal_ecRecover', [account.address, `0x${'1b'.repeat(65)}`], id))
  },
}
