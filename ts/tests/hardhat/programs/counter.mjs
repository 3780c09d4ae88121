import assert from 'node:assert/strict'
import hre from 'hardhat'
import { decodeHeader, fullHeader, verifyAccountProof } from '../../../dist/verify.js'

const { ethers, network } = hre
const url = network.config.url
const ask = (method, ...params) => network.provider.send(method, params)

describe('Counter', () => {
  let counter
  let owner
  let address
  before(async () => {
    ;[owner] = await ethers.getSigners()
    counter = await ethers.deployContract('Counter', [40])
    await counter.waitForDeployment()
    address = await counter.getAddress()
  })

  it('is deployed by an account of the node', async () => {
    assert.equal((await ethers.provider.getNetwork()).chainId, 33n)
    assert.equal(await counter.total(), 40n)
    assert.notEqual(await ethers.provider.getCode(address), '0x')
    const receipt = await counter.deploymentTransaction().wait()
    assert.equal(receipt.from, owner.address)
  })

  it('tells its events by eth_getLogs and by a filter', async () => {
    const filter = await ask('eth_newFilter', { address })
    await ask('eth_getFilterChanges', filter)
    const receipt = await (await counter.increase(2)).wait()
    const [event] = await counter.queryFilter('Increased', receipt.blockNumber)
    assert.deepEqual([...event.args], [owner.address, 2n, 42n])
    const logs = await ask('eth_getFilterChanges', filter)
    assert.deepEqual(
      logs.map(({ transactionHash, removed }) => ({ transactionHash, removed })),
      [{ transactionHash: receipt.hash, removed: false }],
    )
    assert.equal(await ask('eth_uninstallFilter', filter), true)
  })

  it('tells its events and blocks by subscription, also after going back', async () => {
    const provider = new ethers.WebSocketProvider(url.replace('http', 'ws'))
    const events = []
    const heads = []
    await counter.connect(provider).on('Increased', (_by, step) => events.push(step))
    await provider.on('block', (number) => heads.push(number))
    // The library does not wait for the answers to its subscriptions; this answer follows them.
    await provider.send('eth_syncing', [])
    const before = await provider.getBlockNumber()
    const snapshot = await ask('evm_snapshot')
    await (await counter.increase(3)).wait()
    await until(() => events.length === 1 && heads.length === 1)
    assert.equal(await ask('evm_revert', snapshot), true)
    await (await counter.increase(4)).wait()
    await until(() => events.length === 2 && heads.length === 2)
    assert.deepEqual(
      [heads, events],
      [
        [before + 1, before + 1],
        [3n, 4n],
      ],
    )
    await provider.destroy()
  })

  it('refuses with a text, a custom error and a panic', async () => {
    const refusal = (method, step) => counter[method].staticCall(step).then(assert.fail, (error) => error)
    assert.match((await refusal('increase', 0)).message, /the step is zero/)
    const custom = await refusal('increase', 2000)
    const parsed = counter.interface.parseError(custom.data ?? custom.error?.data)
    assert.deepEqual([parsed.name, ...parsed.args], ['TooMuch', 2000n, 1000n])
    const panic = await refusal('decrease', 10n ** 30n)
    assert.match(JSON.stringify([panic.message, panic.data]), /0x11|4e487b71/)
    await assert.rejects(counter.increase(0), /the step is zero/)
  })

  it('can be traced', async () => {
    const { hash } = await (await counter.increase(5)).wait()
    const steps = await ask('debug_traceTransaction', hash)
    assert.equal(steps.structLogs.at(-1).op, 'RETURN')
    const tree = await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
    assert.equal(tree.to, address.toLowerCase())
    const [call] = await ask('trace_transaction', hash)
    assert.equal(call.action.callType, 'call')
  })

  it('can be proven', async () => {
    const block = await ask('eth_getBlockByNumber', 'latest', false)
    const raw = await ask('rsk_getRawBlockHeaderByHash', block.hash)
    const proof = await ask('eth_getProof', address, ['0x0'], block.number)
    const { storage } = verifyAccountProof(
      decodeHeader(fullHeader(raw, block), 'regtest'),
      { address, storageKeys: ['0x0'] },
      proof,
    )
    assert.deepEqual(storage, [await counter.total()])
  })

  it('answers batches', async () => {
    const provider = new ethers.JsonRpcProvider(url, 33, { staticNetwork: true, batchStallTime: 20 })
    let bodies = 0
    provider.on('debug', ({ action }) => {
      if (action === 'sendRpcPayload') bodies++
    })
    const reader = counter.connect(provider)
    const answers = await Promise.all([reader.total(), provider.getBlockNumber(), provider.getBalance(address)])
    assert.deepEqual(answers, [await counter.total(), await ethers.provider.getBlockNumber(), 0n])
    assert.equal(bodies, 1)
    provider.destroy()
  })
})

async function until(isTrue) {
  for (let patience = 0; !isTrue() && patience < 500; patience++)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
