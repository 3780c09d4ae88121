// The chain of the benchmark: made once, kept in the cache folder, the same for every build of the node.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { Interface } from 'ethers'
import { compile } from '../../docs/examples/compile.mjs'
import { cargoEnvironment } from '../../scripts/setup/cargo.mjs'
import { cacheFolder } from '../../scripts/setup/libclang.mjs'
import { Account, hash } from '../chain/transaction.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Sizes of the state at which the node is measured, in entries: storage slots and accounts. */
const sizes = [200_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000]
/** Changes with the generator (`crates/chain/examples/growth.rs`): another version makes other blocks. */
const version = 2

// As in the generator.
const contracts = 64
const callsOfBlock = 10
const slotsOfCall = 63
const accountsOfBlock = 188
export const entriesOfBlock = callsOfBlock * slotsOfCall + accountsOfBlock

const { abi, deployed } = compile('Growth', import.meta.url)
const contract = new Interface(abi)

/** Returns the sizes up to `entries`, which is the last one. */
export function sizesUpTo(entries) {
  return [...sizes.filter((size) => size < entries), entries]
}

/**
 * Makes the parts of the chain that the cache lacks. Returns the path of the specification and, for each size, its parts:
 * `{ growth, mainnet, updates }`, each with `file`, `from`, `to`, `growthBlocks`, `hash` and `stateRoot`.
 */
export async function growthChain(entries, say) {
  const text = `${JSON.stringify(specification(), undefined, 1)}\n`
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const folder = join(cacheFolder(), 'growth', `v${version}-${digest}`)
  mkdirSync(folder, { recursive: true })
  const spec = join(folder, 'spec.json')
  if (!existsSync(spec)) {
    writeFileSync(`${spec}.part`, text)
    renameSync(`${spec}.part`, spec)
  }
  const wanted = sizesUpTo(entries)
  if (!existsSync(join(folder, `${entries}-updates.json`))) {
    say(`making the blocks of a state of ${entries.toLocaleString('en')} entries in ${folder}`)
    const example = ['--locked', '--release', '--package', 'rhizome-chain', '--example', 'growth']
    const options = { cwd: root, env: await cargoEnvironment(), stdio: ['ignore', 2, 2] }
    execFileSync('cargo', ['run', ...example, '--', spec, folder, ...wanted.map(String)], options)
  }
  const part = (size, kind) => {
    const name = join(folder, `${size}-${kind}`)
    return { ...JSON.parse(readFileSync(`${name}.json`, 'utf8')), file: `${name}.blocks` }
  }
  const parts = wanted.map((size) => ({
    size,
    growth: part(size, 'growth'),
    mainnet: part(size, 'mainnet'),
    updates: part(size, 'updates'),
  }))
  return { spec, parts }
}

/** A regtest whose genesis has the contracts, funded senders, and room for large blocks. */
function specification() {
  const alloc = {}
  for (let index = 0; index < contracts; index++) {
    alloc[contractAddress(index).slice(2)] = { balance: `${10n ** 30n}`, contract: { code: deployed, data: {} } }
    alloc[new Account(`growth sender ${index}`).address.slice(2)] = { balance: `${10n ** 30n}` }
  }
  // The Bridge holds the coins of the peg.
  alloc['0000000000000000000000000000000001000006'] = { balance: `${21n * 10n ** 24n}` }
  return { network: 'regtest', name: 'growth', genesis: { gasLimit: '0x055d4a80', alloc } }
}

export function contractAddress(index) {
  return `0x${hash(Buffer.from(`rhizome bench: growth contract ${index}`)).slice(24)}`
}

/** Returns the number of accounts after a number of blocks that grew the state. */
export function accountCount(growthBlocks) {
  return growthBlocks * accountsOfBlock
}

/** Returns the number of entries of a contract after a number of blocks that grew the state. */
export function entryCount(index, growthBlocks) {
  return Math.max(0, Math.ceil((growthBlocks * callsOfBlock - index) / contracts)) * slotsOfCall
}

/** Returns the address of a made account. */
export function accountAddress(index) {
  return `0x${keccakOf(index, 1).slice(24)}`
}

/** Returns the storage slot of an entry. */
export function entrySlot(entry) {
  return `0x${keccakOf(entry, 0)}`
}

/** Returns the call that sums `reads` random entries of a contract. */
export function totalOf(index, range, reads, salt) {
  return { to: contractAddress(index), data: contract.encodeFunctionData('total', [range, reads, salt]) }
}

/** Picks a contract with entries, one of its entries, or an account, by a generator of random numbers below one. */
export function pickEntry(random, growthBlocks) {
  const index = Math.floor(random() * Math.min(contracts, growthBlocks * callsOfBlock))
  return { index, entry: Math.floor(random() * entryCount(index, growthBlocks)) }
}

function keccakOf(...numbers) {
  const words = numbers.map((number) => number.toString(16).padStart(64, '0')).join('')
  return Buffer.from(keccak_256(Buffer.from(words, 'hex'))).toString('hex')
}
