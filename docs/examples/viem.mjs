// Deploys a contract, calls it, reads its events and a revert reason with viem.
//   npm start                        (in one terminal)
//   node docs/examples/viem.mjs      (in another)
import { createPublicClient, createWalletClient, decodeErrorResult, defineChain, http, keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { compile } from './compile.mjs'

const url = process.argv[2] ?? process.env.RPC_URL ?? 'http://127.0.0.1:4444'
const chain = defineChain({
  id: 33,
  name: 'Rootstock regtest',
  nativeCurrency: { name: 'Rootstock bitcoin', symbol: 'RBTC', decimals: 18 },
  rpcUrls: { default: { http: [url] } },
})
// The key of the first development account, as the banner of the node shows it.
const account = privateKeyToAccount(keccak256(toHex('cow')))
const reader = createPublicClient({ chain, transport: http(), pollingInterval: 200 })
const writer = createWalletClient({ chain, account, transport: http() })

const { abi, bytecode } = compile('Counter')
const creation = await writer.deployContract({ abi, bytecode, args: [40n] })
const { contractAddress: address } = await reader.waitForTransactionReceipt({ hash: creation })
console.log('deployed at', address)

const hash = await writer.writeContract({ address, abi, functionName: 'increase', args: [2n] })
const receipt = await reader.waitForTransactionReceipt({ hash })
console.log('increased in block', receipt.blockNumber, 'for', receipt.gasUsed, 'gas')
console.log('total is', await reader.readContract({ address, abi, functionName: 'total' }))

const [event] = await reader.getContractEvents({ address, abi, eventName: 'Increased', fromBlock: receipt.blockNumber })
console.log('event:', event.args)

// Rootstock nodes answer reverts with code -32015; the returned bytes are in the `data` of the error.
try {
  await reader.simulateContract({ address, abi, functionName: 'increase', args: [0n], account })
} catch (error) {
  const { data } = error.walk((one) => typeof one.data === 'string')
  const { errorName, args } = decodeErrorResult({ abi, data })
  console.log('refused:', errorName, args)
}
