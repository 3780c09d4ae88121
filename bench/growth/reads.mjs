// Latency of single reads of the head and of old blocks, one after the other over one connection.
import { call, isServed } from '../chain/client.mjs'
import { median } from '../rpc/compare.mjs'
import { accountAddress, accountCount, contractAddress, entryCount, entrySlot, pickEntry, totalOf } from './chain.mjs'
import { Connection } from './connection.mjs'

/** Storage slots of one call. */
const slotsOfCall = 100
/** Distance of the proofs from the head, where the chain is long enough. */
const proofDistance = 5000

/** Returns the oldest blocks, up to `head`, whose states can be read and proven. */
export async function oldestKept(url, head) {
  if (!(await isServed(url, 'eth_capabilities'))) return { state: 0, proof: 0 }
  const { state, stateproofs } = await call(url, 'eth_capabilities')
  // The node removes states that it does not keep a little later.
  const oldestOf = ({ oldestBlock, deleteStrategy }) =>
    Math.max(Number(oldestBlock), deleteStrategy === undefined ? 0 : head - Number(deleteStrategy.retentionBlocks))
  return { state: oldestOf(state), proof: oldestOf(stateproofs) }
}

/**
 * Returns the reads by name. Each is a function that makes a random request, `{ method, params }`. `parts` are the parts that have been
 * imported, `oldest` the result of `oldestKept`.
 */
export function readsOf(parts, oldest, random) {
  const head = parts.at(-1).to
  const [first] = parts
  const grownAt = (number) => {
    const part = parts.find(({ to }) => number <= to)
    return part.kind === 'growth' ? part.growthBlocks - (part.to - number) : part.growthBlocks
  }
  /** A block with entries in all contracts, before the head. */
  const oldBlock = () => {
    const least = Math.max(Math.min(first.to - 1, 20), oldest.state)
    return least + Math.floor(random() * (head - least))
  }
  const balance = (number) => [accountAddress(Math.floor(random() * accountCount(grownAt(number)))), hex(number)]
  const slot = (number) => {
    const { index, entry } = pickEntry(random, grownAt(number))
    return [contractAddress(index), entrySlot(entry), hex(number)]
  }
  const callOf = (number) => {
    const { index } = pickEntry(random, grownAt(number))
    return [totalOf(index, entryCount(index, grownAt(number)), slotsOfCall, Math.floor(random() * 1e9)), hex(number)]
  }
  const proof = (number) => {
    const [address, key] = slot(number)
    return [address, [key], hex(number)]
  }
  const at = (method, params, block) => () => ({ method, params: params(block()) })
  const distance = Math.min(proofDistance, head - Math.max(oldest.proof, 1))
  return {
    'balance, head': at('eth_getBalance', balance, () => head),
    'slot, head': at('eth_getStorageAt', slot, () => head),
    [`call of ${slotsOfCall} slots, head`]: at('eth_call', callOf, () => head),
    'balance, old block': at('eth_getBalance', balance, oldBlock),
    'slot, old block': at('eth_getStorageAt', slot, oldBlock),
    [`call of ${slotsOfCall} slots, old block`]: at('eth_call', callOf, oldBlock),
    [`eth_getProof, ${distance.toLocaleString('en')} blocks back`]: at('eth_getProof', proof, () => head - distance),
  }
}

/** Sends `count` requests. Returns the median and the 90th percentile in milliseconds, or `{ failure }` on an error answer. */
export async function measureReads(url, make, count) {
  const connection = new Connection(url)
  await connection.opened
  const times = []
  try {
    for (let index = 0; index < count; index++) {
      const asked = make()
      const body = bodyOf(asked)
      const began = performance.now()
      const text = await connection.post(body)
      times.push(performance.now() - began)
      const { result, error } = JSON.parse(text)
      if (error !== undefined) return { failure: error.message }
      await check(connection, asked, result)
    }
  } finally {
    connection.end()
  }
  times.sort((a, b) => a - b)
  return { median: median(times), p90: times[Math.floor(times.length * 0.9)] }
}

/** Every read entry and account exists, so no answer is zero; a proof has the value that another method returns. */
async function check(connection, { method, params }, result) {
  const value = method === 'eth_getProof' ? result.storageProof[0].value : result
  if (BigInt(value) === 0n) throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(result)}`)
  if (method !== 'eth_getProof') return
  const [address, [key], block] = params
  const slot = bodyOf({ method: 'eth_getStorageAt', params: [address, key, block] })
  const answer = JSON.parse(await connection.post(slot))
  if (answer.error === undefined && BigInt(answer.result) !== BigInt(value))
    throw new Error(`the proof of ${key} at ${block} has ${value}, its slot ${answer.result}`)
}

function bodyOf({ method, params }) {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

/** Returns random numbers below one, the same for the same seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function hex(number) {
  return `0x${number.toString(16)}`
}
