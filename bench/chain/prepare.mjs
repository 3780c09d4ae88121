// Prepares the same chain on every target, over JSON-RPC: a token with 1,000 holders, 20 blocks of 50 transfers, and marks
// far apart in a chain as long as the target allows.
import { Interface } from 'ethers'
import { compile } from '../../docs/examples/compile.mjs'
import { AnswerError, call, callAll, until } from './client.mjs'
import { growth } from './growth.mjs'
import { Account, hash, sign } from './transaction.mjs'

const holderCount = 1000
const blockCount = 20
const blockSize = 50
const tokens = 1_000_000n
const coins = 10n ** 18n
/** Rounds of the computing view function. */
export const rounds = 1000
/** Marks in each series. */
export const markCount = 10

const { abi, bytecode } = compile('Bench', import.meta.url)
const contract = new Interface(abi)
/** Returns the calldata of a function of the contract. */
export const encode = (name, parameters) => contract.encodeFunctionData(name, parameters)
export const transferTopic = contract.getEvent('Transfer').topicHash
export const markTopic = contract.getEvent('Mark').topicHash

const accounts = []
/** Returns the holders: the same accounts on every chain, with separate nonces. */
function makeHolders() {
  if (accounts.length === 0)
    for (let index = 0; index < holderCount; index++) accounts.push(new Account(`holder ${index}`))
  return accounts.map((account) => Object.assign(Object.create(Account.prototype), account))
}

/**
 * Prepares a target. Returns the data of the requests and of their expected answers. `fullBlocks` is empty if the target
 * cannot put many transactions into one block; `marks` has only ranges that fit its chain. `order` is that of `growth`.
 */
export async function prepare(url, { longest }) {
  const chain = { url, holders: makeHolders(), fullBlocks: [], transfers: [], balances: new Map(), marks: [] }
  chain.chainId = BigInt(await call(url, 'eth_chainId'))
  const price = BigInt(await call(url, 'eth_gasPrice'))
  chain.gasPrice = price * 2n > 10n ** 9n ? price * 2n : 10n ** 9n
  const owner = new Account('owner')
  const [funder] = await call(url, 'eth_accounts')
  const blocks = await growth(chain, funder)
  chain.order = blocks.order
  const grant = 2n * coins * BigInt(holderCount)
  const funding = {
    from: funder,
    to: owner.address,
    value: quantity(grant),
    gas: quantity(21_000n),
    gasPrice: quantity(chain.gasPrice),
  }
  await mined(chain, [await call(url, 'eth_sendTransaction', [funding])])

  const created = await run(chain, owner, { data: bytecode, gas: 2_000_000n })
  chain.contract = created.contractAddress
  const share = 50
  for (let from = 0; from < holderCount; from += share) {
    const part = chain.holders.slice(from, from + share).map(({ address }) => address)
    const data = encode('deal', [part, tokens])
    await run(chain, owner, { to: chain.contract, data, gas: 5_000_000n, value: coins * BigInt(share) })
  }
  for (const { address } of chain.holders) chain.balances.set(address, tokens)

  for (let index = 0; index < blockCount; index++) await fill(chain, blocks, index)
  await addMarks(chain, blocks, owner, longest)
  chain.head = Number(await call(url, 'eth_blockNumber'))
  return chain
}

export function quantity(value) {
  return `0x${BigInt(value).toString(16)}`
}

/** Signs a transaction and increases the nonce of the account. */
export function signed({ chainId, gasPrice }, account, fields) {
  return sign(account, { nonce: account.nonce++, gasPrice, chainId, ...fields })
}

/** Storage slot of a holder's balance; the mapping is the first variable. */
export function balanceSlot(address) {
  return `0x${hash(Buffer.from(address.slice(2).padStart(64, '0') + '0'.repeat(64), 'hex'))}`
}

async function run(chain, account, fields) {
  const { raw } = signed(chain, account, fields)
  const [receipt] = await mined(chain, [await sent(chain.url, raw)])
  return receipt
}

/** Sends a transaction and returns its hash. Repeats on errors: a pool can process a block after its receipts are available. */
async function sent(url, raw) {
  for (let left = 20; ; left--) {
    try {
      return await call(url, 'eth_sendRawTransaction', [raw])
    } catch (error) {
      if (!(error instanceof AnswerError) || left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** Waits for the receipts of transactions. Throws if one of them failed. */
async function mined({ url, order }, hashes) {
  if (order === 'waiting') await call(url, 'evm_mine')
  const ask = () =>
    callAll(
      url,
      hashes.map((one) => ['eth_getTransactionReceipt', [one]]),
    )
  const receipts = await until(async () => {
    const found = await ask()
    return found.every((receipt) => receipt !== null) ? found : undefined
  }, 'mining')
  for (const { status, transactionHash } of receipts) if (status !== '0x1') throw new Error(`${transactionHash} failed`)
  return receipts
}

/** Fills one block with transfers. */
async function fill(chain, blocks, index) {
  const { holders } = chain
  const to = holders[(index * blockSize + blockSize) % holderCount]
  // Each holder sends one transfer; with order `last` one holder sends all of them.
  const { order } = blocks
  const from =
    order === 'last' ? Array(blockSize).fill(holders[index]) : holders.slice(index * blockSize, (index + 1) * blockSize)
  const transfers = from.map((holder) => {
    const { raw, hash: id } = signed(chain, holder, {
      to: chain.contract,
      data: encode('transfer', [to.address, 1n]),
      gas: 100_000n,
    })
    chain.balances.set(holder.address, chain.balances.get(holder.address) - 1n)
    chain.balances.set(to.address, chain.balances.get(to.address) + 1n)
    return { raw, hash: id, from: holder.address }
  })
  if (order === 'held') await call(chain.url, 'evm_setAutomine', [false])
  const inOrder = order === 'last' ? transfers.toReversed() : transfers
  await callAll(
    chain.url,
    inOrder.map(({ raw }) => ['eth_sendRawTransaction', [raw]]),
  )
  if (order === 'held') {
    await call(chain.url, 'evm_mine')
    await call(chain.url, 'evm_setAutomine', [true])
  }
  const receipts = await mined(
    chain,
    transfers.map(({ hash: id }) => id),
  )
  chain.transfers.push(...transfers)
  const { blockNumber, blockHash } = receipts[0]
  if (receipts.every((receipt) => receipt.blockHash === blockHash))
    chain.fullBlocks.push({ number: blockNumber, hash: blockHash, transfers })
}

/** Adds series of marks over ranges of 1,000, 10,000 and 100,000 blocks, the longest first. */
async function addMarks(chain, blocks, owner, longest) {
  if (longest === 0) return
  const feasible = await blocks.longest(longest)
  const lengths = [1000, 10_000, 100_000].filter((length) => length <= feasible)
  for (const length of lengths.reverse()) {
    for (let position = 0; position < markCount; position++) {
      await run(chain, owner, { to: chain.contract, data: encode('mark', [length, position]), gas: 100_000n })
      // Each shorter series is a part of this one, so its blocks are subtracted.
      await blocks.add(Math.floor((length * 0.9) / markCount) - 2)
    }
    chain.marks.push({ length, series: `0x${length.toString(16).padStart(64, '0')}` })
  }
}
