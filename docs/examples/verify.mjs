// Reads a contract from an untrusted node and checks each answer against the proof of work of a header.
//   npm start                        (in one terminal)
//   node docs/examples/verify.mjs    (in another)
import { fullHeader, verifyAccountProof, verifyHeader, verifyReceiptProof } from '@rhizome-node/rhizome/verify'
import { createWalletClient, defineChain, http, keccak256, publicActions, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { compile } from './compile.mjs'

const url = process.argv[2] ?? process.env.RPC_URL ?? 'http://127.0.0.1:4444'
const chain = defineChain({
  id: 33,
  name: 'Rootstock regtest',
  nativeCurrency: { name: 'Rootstock bitcoin', symbol: 'RBTC', decimals: 18 },
  rpcUrls: { default: { http: [url] } },
})
const account = privateKeyToAccount(keccak256(toHex('cow')))
const node = createWalletClient({ chain, account, transport: http() }).extend(publicActions)
const ask = (method, ...params) => node.request({ method, params })

const { abi, bytecode } = compile('Counter')
const creation = await node.deployContract({ abi, bytecode, args: [40n] })
const { contractAddress: address } = await node.waitForTransactionReceipt({ hash: creation })
console.log('deployed at', address)
const hash = await node.writeContract({ address, abi, functionName: 'increase', args: [2n] })
const { blockHash, transactionIndex } = await node.waitForTransactionReceipt({ hash })

// The header has a Bitcoin proof of work. Its hash is computed from its bytes, not taken from the node.
const raw = await ask('rsk_getRawBlockHeaderByHash', blockHash)
const header = verifyHeader(fullHeader(raw, await ask('eth_getBlockByHash', blockHash, false)), 'regtest')
console.log('block', header.number, header.hash, 'has a proof of work of difficulty', header.difficulty)

// The account and a storage slot, against the state root of that header.
const storageKeys = [toHex(0, { size: 32 })]
const proof = await ask('eth_getProof', address, storageKeys, toHex(header.number))
const { codeHash, storage } = verifyAccountProof(header, { address, storageKeys }, proof)
console.log('total is', storage[0], 'in a contract whose code has the hash', codeHash)

// The receipt and its event, against the receipts root.
const receipt = await ask('rsk_getRawTransactionReceiptByHash', hash)
const nodes = await ask('rsk_getTransactionReceiptNodesByHash', blockHash, hash)
const { isSuccess, logs } = verifyReceiptProof(header, transactionIndex, receipt, nodes)
console.log('transaction', isSuccess ? 'succeeded' : 'failed', 'with', logs.length, 'event')

// A wrong balance is detected.
try {
  verifyAccountProof(header, { address, storageKeys }, { ...proof, balance: '0xde0b6b3a7640000' })
} catch (error) {
  console.log('refused:', error.message)
}
