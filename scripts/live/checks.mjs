// The checks of npm run live. Each measures this node beside a reference node, then two reference nodes at the same task.
import { fork } from './fork.mjs'
import { LiveNode, until, withNodes } from './nodes.mjs'
import { atLeast, atMost, fail, inMs, inSeconds, report } from './report.mjs'
import { snap } from './snap.mjs'

/** Blocks a second that a synchronization reaches at least, and milliseconds that anything else takes at most. */
const bars = {
  sync: 16.7,
  blocks: 650,
  serve: 15.3,
  reorg: 5000,
  blockIn: 50,
  blockOut: 150,
  transaction: 100,
}
const syncLimitMs = 900_000
const relayLimitMs = 20_000
/** Longest silence of a synchronizing node without a message. */
const silenceMs = 2000
/** Blocks of the two branches of a partition. */
const branches = [5, 12]
const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const snapSettings = { 'sync.snapshot.server.enabled': true }

export const checks = {
  sync: {
    description: 'the first synchronization from a reference node',
    run: ({ program, blocks }) => syncFrom(program, blocks, {}, 'sync'),
  },
  relay: { description: 'new blocks and transactions, both ways, medians', run: relay },
  reorg: { description: 'a reorganisation after a partition', run: reorganise },
  blocks: {
    description: 'the first synchronization from a reference node that serves snapshots, all blocks executed',
    run: ({ program, blocks }) => syncFrom(program, blocks, snapSettings, 'blocks'),
  },
  snap: {
    description: 'a state of 20 MB from a reference node to this one, and to a reference node from this one',
    run: snap,
  },
  fork: {
    description: 'a fork of the chain of a reference node: calls, estimates, the Bridge, transactions',
    run: fork,
  },
  serve: { description: 'the first synchronization of a reference node from this one', run: serve },
}

async function syncFrom(program, blocks, settings, name) {
  await withNodes(async (started) => {
    const source = await started(LiveNode.reference(program, [], settings))
    await source.mine(blocks)
    const own = await syncTime(await started(LiveNode.own([source.enode])), source)
    const theirs = await syncTime(await started(LiveNode.reference(program, [source.enode])), source)
    report(
      name,
      `${blocks} blocks in ${inSeconds(own)}, ${rate(blocks, own)}`,
      `${inSeconds(theirs)}, ${rate(blocks, theirs)}`,
    )
    atLeast(name, (blocks * 1000) / own.ms, bars[name])
  })
}

async function serve({ program, blocks }) {
  await withNodes(async (started) => {
    const source = await started(LiveNode.own())
    await source.mine(blocks)
    const own = await syncTime(await started(LiveNode.reference(program, [source.enode])), source)
    const theirs = await withNodes(async (others) => {
      const other = await others(LiveNode.reference(program))
      await other.mine(blocks)
      return syncTime(await others(LiveNode.reference(program, [other.enode])), other)
    })
    report(
      'serve',
      `${blocks} blocks in ${inSeconds(own)}, ${rate(blocks, own)}`,
      `${inSeconds(theirs)}, ${rate(blocks, theirs)}`,
    )
    atLeast('serve', (blocks * 1000) / own.ms, bars.serve)
    if (own.silenceMs > silenceMs) fail('serve', `a silence of ${inSeconds({ ms: own.silenceMs })}`)
  })
}

/** Waits until a node has the head of another. Returns the time, and the longest time without a new block. */
async function syncTime(node, source) {
  const head = await source.head()
  let last = 0
  let lastAt
  let longest = 0
  const look = async () => {
    const number = await node.number()
    const now = performance.now()
    if (lastAt !== undefined) longest = Math.max(longest, now - lastAt)
    if (number > last) lastAt = now
    last = number
    return (await node.head()) === head
  }
  const ms = await until('the head', syncLimitMs, look, 50)
  return { ms, silenceMs: longest }
}

async function relay({ program, rounds }) {
  await withNodes(async (started) => {
    const reference = await started(LiveNode.reference(program))
    const own = await started(LiveNode.own([reference.enode]))
    const other = await started(LiveNode.reference(program, [reference.enode]))
    await until('the peers', relayLimitMs, async () => (await own.number()) === (await reference.number()))
    await reference.mine(3)
    await until('the first blocks', relayLimitMs, async () => (await own.head()) === (await other.head()))
    const theirs = await relayTimes(reference, other, rounds)
    const toUs = await relayTimes(reference, own, rounds)
    const fromUs = await relayTimes(own, reference, rounds)
    const times = [
      ['block', 'to', toUs, bars.blockIn],
      ['block', 'from', fromUs, bars.blockOut],
      ['transaction', 'to', toUs, bars.transaction],
      ['transaction', 'from', fromUs, bars.transaction],
    ]
    for (const [kind, direction, own, bar] of times) {
      const name = `relay of a ${kind} ${direction} this node`
      report(name, `median ${inMs(own[kind])}`, `median ${inMs(theirs[kind])}`)
      atMost(name, own[kind], bar)
    }
  })
}

/** Returns the medians of the times until a block and a transaction of one node are seen by another. */
async function relayTimes(from, to, rounds) {
  const blocks = []
  const transactions = []
  for (let round = 0; round < rounds; round++) {
    const hash = await from.ask('eth_sendTransaction', {
      from: sender,
      to: `0x${'7'.repeat(40)}`,
      value: '0x1',
      gas: '0x5208',
      gasPrice: '0x3b9aca00',
    })
    const isSeen = async () => (await to.ask('eth_getTransactionByHash', hash)) !== null
    transactions.push(await until('a transaction', relayLimitMs, isSeen))
    await from.ask('evm_mine')
    const head = await from.head()
    blocks.push(await until('a block', relayLimitMs, async () => (await to.head()) === head))
  }
  return { block: median(blocks), transaction: median(transactions) }
}

async function reorganise({ program }) {
  await withNodes(async (started) => {
    const reference = await started(LiveNode.reference(program))
    const own = await started(LiveNode.own())
    await own.mine(branches[0])
    await reference.mine(branches[1])
    await own.ask('admin_addPeer', reference.enode)
    const head = await reference.head()
    const ms = await until('the reorganisation', syncLimitMs, async () => (await own.head()) === head)
    report(
      'reorg',
      `${branches[1]} blocks over ${branches[0]} in ${inSeconds({ ms })}`,
      'see sync: a partition needs a restart',
    )
    atMost('reorg', ms, bars.reorg)
  })
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
}

function rate(blocks, { ms }) {
  return `${((blocks * 1000) / ms).toFixed(1)} blocks/s`
}
