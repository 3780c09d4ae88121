// The chain that forks are compared on: contracts, tokens, and a Bridge that was used.
import { Interface, keccak256, Wallet } from 'ethers'
import { compile } from '../../docs/examples/compile.mjs'
import { DevelopmentBridge } from '../../ts/dist/bridge.js'

/** Account of the genesis block that pays for the others. A fork gives it another balance, so it takes no part afterwards. */
const rich = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const gasPrice = 1_000_000_000n
const gasLimit = 2_000_000n
export const bridge = '0x0000000000000000000000000000000001000006'
export const header = '0x0000000000000000000000000000000001000010'
export const wallets = Array.from({ length: 8 }, (_none, index) => new Wallet(`0x${String(index + 1).repeat(64)}`))
const satoshisOfPegIns = 300_000_000n

const contracts = Object.fromEntries(
  ['Token', 'Proxy', 'Probe', 'Child'].map((name) => [name, compile(name, import.meta.url, 'ForkChain')]),
)
export const token = new Interface(contracts.Token.abi)
export const probe = new Interface(contracts.Probe.abi)
export const childCode = `${contracts.Child.bytecode}${'7'.padStart(64, '0')}`

/** Signs transactions of the wallets; counts their nonces. */
export class Signer {
  #nonces = new Map()

  async sign(wallet, { to = null, data = '0x', value = 0n, gas = gasLimit }) {
    const nonce = this.#nonces.get(wallet.address) ?? 0
    this.#nonces.set(wallet.address, nonce + 1)
    return wallet.signTransaction({ type: 0, chainId: 33, nonce, gasPrice, gasLimit: gas, to, data, value })
  }
}

/** Sends a signed transaction, and mines it if the node does not. Returns its receipt. */
export async function mined(node, raw, isMining) {
  // A node that mines at once answers with the error of a failed transaction.
  const { error } = await node.answer('eth_sendRawTransaction', raw)
  if (error !== undefined && !isMining) throw new Error(`eth_sendRawTransaction: ${error.message}`)
  if (!isMining) await node.ask('evm_mine')
  return node.ask('eth_getTransactionReceipt', keccak256(raw))
}

/** Makes a chain up to the block below `blocks`. Returns its contracts and the signer. */
export async function makeChain(node, blocks, random) {
  const signer = new Signer()
  const send = async (transaction, wallet = wallets[0]) => {
    const receipt = await mined(node, await signer.sign(wallet, transaction), false)
    if (receipt.status !== '0x1') throw new Error(`a transaction of the chain failed: ${JSON.stringify(receipt)}`)
    return receipt
  }
  for (const { address } of wallets) {
    await node.ask('eth_sendTransaction', {
      from: rich,
      to: address,
      value: `0x${(10n ** 21n).toString(16)}`,
      gas: '0x5208',
      gasPrice: `0x${gasPrice.toString(16)}`,
    })
    await node.ask('evm_mine')
  }
  const deploy = async (data) => (await send({ data })).contractAddress
  const [own, implementation, probed] = [
    await deploy(contracts.Token.bytecode),
    await deploy(contracts.Token.bytecode),
    await deploy(contracts.Probe.bytecode),
  ]
  const proxy = await deploy(`${contracts.Proxy.bytecode}${implementation.slice(2).padStart(64, '0')}`)
  const tokens = [own, proxy]
  for (const to of tokens)
    for (const { address } of wallets) await send({ to, data: token.encodeFunctionData('mint', [address, 10n ** 20n]) })
  await useBridge(node)
  const places = { tokens, probe: probed, implementation, accounts: wallets.map(({ address }) => address) }
  while ((await node.number()) < blocks - 1) {
    await node.mine(Math.min(random.below(20), blocks - 1 - (await node.number())))
    if ((await node.number()) >= blocks - 1) break
    const number = BigInt(random.below(1000))
    const data = random.pick([
      probe.encodeFunctionData('write', [number, 5n, number]),
      probe.encodeFunctionData('create', [number + 20n, BigInt(random.below(3)) * (number + 1n)]),
      probe.encodeFunctionData('write', [number, 3n, 0n]),
    ])
    await send({ to: probed, data, value: 0n }, random.pick(wallets))
    const child = await node.ask('eth_call', { to: probed, data: probe.encodeFunctionData('child') }, 'latest')
    if (BigInt(child) > 0n) places.accounts.push(`0x${child.slice(26)}`)
  }
  await node.mine(blocks - 1 - (await node.number()))
  return { places, signer }
}

/** Mines a block with signed transactions. Returns its hash and its transactions, the one of REMASC included. */
export async function mineTogether(node, signed) {
  for (const raw of signed) await node.ask('eth_sendRawTransaction', raw)
  await node.ask('evm_mine')
  const { hash, transactions } = await node.ask('eth_getBlockByNumber', 'latest', true)
  if (transactions.length !== signed.length + 1)
    throw new Error(`the block has ${transactions.length} transactions, ${signed.length + 1} wanted`)
  return { hash, transactions }
}

async function useBridge(node) {
  const peg = new DevelopmentBridge(node.url)
  await peg.mineBitcoin(120)
  for (let times = 0; times < 2; times++) await peg.pegIn(wallets[1].address, satoshisOfPegIns)
  await peg.pegOut(rich, 50_000_000n)
  await peg.confirmPegOuts()
  await peg.pegOut(rich, 60_000_000n)
}
