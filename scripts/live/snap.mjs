// The check `snap` of npm run live: a state of 20 MB, from a reference node to this one and back.
import { isDeepStrictEqual } from 'node:util'
import { SetupError } from '../setup/run.mjs'
import { LiveNode, until, withNodes } from './nodes.mjs'
import { atMost, inSeconds, report } from './report.mjs'

/** The block whose state snap servers have, in a chain of `blocks`. */
const pivot = 1160
const blocks = 5200
/** Contracts of 24,576 bytes each, one in a block: together the state of the pivot has 20 MB. */
const contracts = 855
const codeBytes = 24_576
/** Blocks above the pivot after which the reference counts as synchronized: the others take it minutes. */
const executed = 200
const limitMs = 600_000
/** Milliseconds from the start of this node to the head, at most. */
const bar = 60_000
const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** Returns a code of zeros that begins with the address of the contract. */
const initCode = '0x306000526160006000f3'
const sourceSettings = {
  'sync.snapshot.server.enabled': true,
  // One account creates all contracts.
  'transaction.accountTxRateLimit.enabled': false,
}
// As on public networks.
const settings = { RHIZOME_STORAGE_PROOFS: '128', RHIZOME_STORAGE_HISTORY: 'full' }
// Below the limit the reference executes blocks; above it, it takes states, also when it has one: 4,040 blocks are left then.
const client = { 'sync.snapshot.client.enabled': true, 'sync.snapshot.client.limit': 5000 }

export async function snap({ program }) {
  await withNodes(async (started) => {
    const source = await started(LiveNode.reference(program, [], sourceSettings))
    const hashes = await fill(source)
    const probes = await probesOf(source, hashes)
    const own = await fromReference(source, probes)
    const theirs = await toReference(program, source, probes)
    report(
      `snap from a reference node, ${megabytes} MB`,
      `state ${inSeconds(own.state)}, head ${inSeconds(own.head)}`,
      `state ${inSeconds(theirs)}`,
    )
    atMost('snap from a reference node', own.head.ms, bar)
    const serving = await started(LiveNode.own([source.enode], ['--snap-server'], settings))
    await until('the head of the server', limitMs, async () => (await serving.head()) === (await source.head()), 50)
    await until('the snapshot', limitMs, () => serving.hasSnapshot(), 50)
    const served = await toReference(program, serving, probes)
    report(
      `snap of a reference node, ${megabytes} MB, from this node`,
      `state ${inSeconds(served)}`,
      `state ${inSeconds(theirs)}`,
    )
    atMost('snap of a reference node from this one', served.ms, 2 * theirs.ms + bar)
  })
}

const megabytes = Math.round((contracts * codeBytes) / 1e6)

/** Makes the chain. Returns the hashes of the transactions that create the contracts. */
async function fill(source) {
  const deployment = { from: sender, data: initCode, gas: '0x53ec60', gasPrice: '0x3b9aca00' }
  const hashes = []
  for (let contract = 0; contract < contracts; contract++) {
    hashes.push(await source.ask('eth_sendTransaction', deployment))
    await source.ask('evm_mine')
  }
  await source.mine(blocks - (await source.number()))
  return hashes
}

/** Returns questions about the state with the answers of the source: the code of some contracts, the balance of the sender. */
async function probesOf(source, hashes) {
  const probes = [['eth_getBalance', sender]]
  for (const hash of [hashes[0], hashes[400], hashes.at(-1)]) {
    const { contractAddress, blockNumber } = await source.ask('eth_getTransactionReceipt', hash)
    if (Number(blockNumber) > pivot) throw new SetupError(`contract in block ${Number(blockNumber)}, above the pivot`)
    probes.push(['eth_getCode', contractAddress])
  }
  const answers = []
  for (const [method, address] of probes) answers.push(await source.ask(method, address, 'latest'))
  if (answers[1].length !== 2 + 2 * codeBytes) throw new SetupError('the source has no contracts')
  return { probes, answers }
}

async function compare(node, { probes, answers }, methods) {
  for (const [index, [method, address]] of probes.entries()) {
    if (!methods.includes(method)) continue
    if (!isDeepStrictEqual(await node.ask(method, address, 'latest'), answers[index]))
      throw new SetupError(`${node.name}: another answer of ${method} ${address}`)
  }
}

/** Synchronizes a new node of this project. Returns the times until it has the state, and the head. */
async function fromReference(source, probes) {
  return withNodes(async (started) => {
    const node = await started(LiveNode.own([source.enode], ['--sync', 'snap'], settings))
    const stages = new Set()
    const start = performance.now()
    const state = await until('the state', limitMs, async () => {
      const status = await node.ask('eth_syncing')
      for (const { stage_name: name } of status.stages ?? []) stages.add(name)
      return (await node.number()) >= pivot
    })
    const head = await source.head()
    await until('the head', limitMs, async () => (await node.head()) === head)
    const all = { state: { ms: state }, head: { ms: performance.now() - start } }
    await compare(node, probes, ['eth_getBalance', 'eth_getCode'])
    if (!stages.has('State')) throw new SetupError(`eth_syncing had no stage State: ${[...stages]}`)
    // Without execution there are no receipts: the state came from the peer. The block can still be missing.
    const { result } = await node.answer('eth_getBlockReceipts', `0x${(500).toString(16)}`)
    if (result) throw new SetupError('block 500 was executed')
    await node.verify(pivot + 1, blocks)
    return all
  })
}

/** Synchronizes a new reference node. Returns the time until it has the state. */
async function toReference(program, source, probes) {
  return withNodes(async (started) => {
    const node = await started(LiveNode.reference(program, [source.enode], client))
    const ms = await until('the state of the reference', limitMs, async () => (await node.number()) >= pivot, 50)
    await until('the next blocks', limitMs, async () => (await node.number()) >= pivot + executed, 50)
    const number = `0x${(pivot + executed).toString(16)}`
    const hashes = await Promise.all(
      [node, source].map(async (one) => (await one.ask('eth_getBlockByNumber', number, false)).hash),
    )
    if (hashes[0] !== hashes[1]) throw new SetupError('the reference follows another chain')
    // The sender's balance is that of the pivot: it has sent nothing since.
    await compare(node, probes, ['eth_getBalance', 'eth_getCode'])
    return { ms }
  })
}
