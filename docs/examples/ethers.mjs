// A test in the manner of Hardhat, with ethers: snapshot, deploy, assert, revert to the snapshot.
//   npm start                        (in one terminal)
//   node docs/examples/ethers.mjs    (in another)
import assert from 'node:assert/strict'
import { ContractFactory, JsonRpcProvider } from 'ethers'
import { compile } from './compile.mjs'

const url = process.argv[2] ?? process.env.RPC_URL ?? 'http://127.0.0.1:4444'
const provider = new JsonRpcProvider(url, 33, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 50 })
provider.pollingInterval = 200

const snapshot = await provider.send('evm_snapshot', [])
// The node signs for its development accounts.
const [owner, other] = await provider.listAccounts()

const { abi, bytecode } = compile('Counter')
const counter = await (await new ContractFactory(abi, bytecode, owner).deploy(10)).waitForDeployment()
console.log('deployed at', await counter.getAddress())

const receipt = await (await counter.connect(other).increase(5)).wait()
assert.equal(await counter.total(), 15n)
const [log] = receipt.logs.map((one) => counter.interface.parseLog(one))
assert.equal(log.args.by, other.address)
console.log('increased by', log.args.step, 'in block', receipt.blockNumber)

await assert.rejects(counter.increase.staticCall(0), /the step is zero/)
await assert.rejects(counter.increase.staticCall(5000), (error) => error.revert?.name === 'TooMuch')
console.log('refusals carry their reasons')

const block = await provider.getBlock('latest')
await provider.send('evm_increaseTime', [3600])
await provider.send('evm_mine', [])
const later = await provider.getBlock('latest')
// Blocks that follow each other within a second run a little ahead of the clock.
assert.ok(later.timestamp > block.timestamp + 3500)
console.log('time moved by', later.timestamp - block.timestamp, 'seconds')

assert.equal(await provider.send('evm_revert', [snapshot]), true)
assert.equal(await provider.getCode(await counter.getAddress()), '0x')
console.log('back at the snapshot')
provider.destroy()
