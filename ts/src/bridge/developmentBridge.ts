import { keccak_256 } from '@noble/hashes/sha3'
import { Script } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils'
import type { Result } from 'ethers'
import { type BitcoinBlock, displayed, mineBlock, proofOf } from './bitcoinBlock.ts'
import {
  addressBytes,
  addressOf,
  coinbase,
  federationSignatures,
  idOf,
  type Output,
  outputsOf,
  pay,
  scriptOf,
} from './bitcoinTransaction.ts'
import { BridgeContract, bridgeAddress, bridgeInterface, eventsIn } from './bridgeContract.ts'
import { flyoverScript, providerCode } from './flyover.ts'
import { bitcoinUserKey, federatorKeys } from './keys.ts'
import { NodeClient, type Receipt } from './nodeClient.ts'
import type {
  BitcoinHead,
  BridgeState,
  ConfirmedPegOut,
  FlyoverPegIn,
  PegIn,
  PegOutRequest,
  ReleasedPegOut,
} from './results.ts'

/** Bitcoin blocks, and Rootstock blocks, that make a transaction certain on regtest. */
const confirmations = 3
const weiPerSatoshi = 10n ** 10n
const gas = '0x2dc6c0'

/**
 * The peg of a development node: a stand-in for Bitcoin, its only user, and the federation. Bitcoin exists as the headers
 * that the Bridge has; blocks are made when they are needed and are not kept.
 */
export class DevelopmentBridge {
  readonly #node: NodeClient
  readonly #bridge: BridgeContract

  /** `url` is that of a node on regtest. */
  constructor(url: string) {
    this.#node = new NodeClient(url)
    this.#bridge = new BridgeContract(this.#node)
  }

  /** Returns federation, limits, and waiting peg-outs. */
  async state(): Promise<BridgeState> {
    const bridge = this.#bridge
    const [confirming, signing] = [await bridge.waitingForConfirmations(), await bridge.waitingForSignatures()]
    const balance = BigInt(await this.#node.request<string>('eth_getBalance', [bridgeAddress, 'latest']))
    return {
      federationAddress: await bridge.view('getFederationAddress'),
      bitcoinHeight: await bridge.count('getBtcBlockchainBestChainHeight'),
      balanceWei: String(balance),
      lockingCapSatoshis: String(await bridge.view('getLockingCap')),
      minimumPegInSatoshis: String(await bridge.view('getMinimumLockTxValue')),
      feePerKbSatoshis: String(await bridge.view('getFeePerKb')),
      queuedPegOuts: await bridge.count('getQueuedPegoutsCount'),
      nextPegOutBlock: await bridge.count('getNextPegoutCreationBlockNumber'),
      waitingForConfirmations: confirming.map(({ raw }) => displayed(idOf(raw))),
      waitingForSignatures: signing.map(({ key }) => key),
    }
  }

  /** Mines Bitcoin blocks without payments, and hands their headers to the Bridge. */
  async mineBitcoin(count = 1): Promise<BitcoinHead> {
    const height = await this.#bitcoinHeight()
    const blocks = Array.from({ length: count }, (_none, index) => [coinbase(height + 1 + index, [])])
    const { headers, receipt } = await this.#extend(blocks)
    const head = await this.#bitcoinHeight()
    if (head !== height + count) throw new Error('the Bridge did not accept the headers')
    return { height: head, hash: displayed(idOf(headers.at(-1) as Uint8Array)), transaction: receipt.transactionHash }
  }

  /** Pays Bitcoin to the federation with instructions (version 1) to credit a Rootstock address, and registers the payment. */
  async pegIn(receiver: string, satoshis: bigint): Promise<PegIn> {
    const instructions = Buffer.concat([Buffer.from('RSKT\u0001'), Buffer.from(receiver.slice(2), 'hex')])
    const outputs = [
      { script: scriptOf(await this.#bridge.view('getFederationAddress')), amount: satoshis },
      { script: Script.encode(['RETURN', instructions]), amount: 0n },
    ]
    const { raw, block, height } = await this.#payAndConfirm(outputs)
    const receipt = await this.#register(raw, block, height, 1)
    const [registered] = eventsIn(receipt, 'pegin_btc')
    const [rejected] = eventsIn(receipt, 'rejected_pegin')
    if (registered === undefined) {
      throw new Error(`the Bridge did not register the peg-in${reasonOf(rejected)}`)
    }
    const paid = {
      bitcoinTransaction: displayed(idOf(raw)),
      bitcoinHeight: height,
      transaction: receipt.transactionHash,
    }
    return { ...paid, receiver: String(registered.receiver), satoshis: String(registered.amount) }
  }

  /** Requests Bitcoin for RBTC of an account of the node: the Bridge pays to the P2PKH address of its key. */
  async pegOut(from: string | undefined, satoshis: bigint): Promise<PegOutRequest> {
    const sender = from ?? (await this.#account())
    const value = `0x${(satoshis * weiPerSatoshi).toString(16)}`
    const receipt = await this.#node.send({ from: sender, to: bridgeAddress, value, gas })
    const [received] = eventsIn(receipt, 'release_request_received')
    if (received === undefined) {
      const [rejected] = eventsIn(receipt, 'release_request_rejected')
      throw new Error(`the Bridge rejected the request${reasonOf(rejected)}`)
    }
    const bitcoinAddress = String(received.btcDestinationAddress)
    return { transaction: receipt.transactionHash, sender, bitcoinAddress, satoshis: String(satoshis) }
  }

  /**
   * Mines blocks until the requests are in a Bitcoin transaction, and until all such transactions are confirmed. After each
   * step a federator calls `updateCollections`.
   */
  async confirmPegOuts(): Promise<ConfirmedPegOut[]> {
    const confirmed: ConfirmedPegOut[] = []
    if ((await this.#bridge.count('getQueuedPegoutsCount')) > 0) {
      await this.#mineUpTo((await this.#bridge.count('getNextPegoutCreationBlockNumber')) - 1)
      const receipt = await this.#update()
      if (eventsIn(receipt, 'batch_pegout_created').length === 0) {
        throw new Error('the Bridge made no Bitcoin transaction: its coins do not cover the requests. Do a peg-in')
      }
      confirmed.push(...confirmedIn(receipt))
    }
    for (let waiting = await this.#oldest(); waiting !== undefined; waiting = await this.#oldest()) {
      await this.#mineUpTo(waiting + confirmations - 1)
      const found = confirmedIn(await this.#update())
      if (found.length === 0) {
        throw new Error('the Bridge confirmed nothing: another transaction of the same call waits for signatures')
      }
      confirmed.push(...found)
    }
    return confirmed
  }

  /** Signs all waiting transactions as the federation, and puts them into a Bitcoin block. The Bridge learns of its change. */
  async signPegOuts(): Promise<ReleasedPegOut[]> {
    const keys = federatorKeys().slice(0, await this.#bridge.count('getFederationThreshold'))
    const signed: { key: string; raw: Uint8Array }[] = []
    for (const { key, raw } of await this.#bridge.waitingForSignatures()) {
      for (const federator of keys) {
        const values = [pubECDSA(federator), federationSignatures(raw, federator), key]
        const receipt = await this.#bridge.send(hexOf(federator), 'addSignature', values)
        for (const { btcRawTransaction } of eventsIn(receipt, 'release_btc')) {
          signed.push({ key, raw: Buffer.from(String(btcRawTransaction).slice(2), 'hex') })
        }
      }
    }
    if (signed.length === 0) return []
    const { block, height } = await this.#confirm(signed.map(({ raw }) => raw))
    const released: ReleasedPegOut[] = []
    for (const [index, { key, raw }] of signed.entries()) {
      const { transactionHash } = await this.#register(raw, block, height, index + 1)
      const bitcoinTransaction = displayed(idOf(raw))
      const rawTransaction = Buffer.from(raw).toString('hex')
      const outputs = outputsOf(raw)
      released.push({
        key,
        bitcoinTransaction,
        bitcoinHeight: height,
        rawTransaction,
        outputs,
        transaction: transactionHash,
      })
    }
    return released
  }

  /** Does a flyover peg-in: deploys a liquidity provider, pays Bitcoin to its agreement, and lets it call the Bridge. */
  async flyoverPegIn(receiver: string, satoshis: bigint): Promise<FlyoverPegIn> {
    const from = await this.#account()
    const { contractAddress } = await this.#node.send({ from, data: providerCode, gas })
    const contract = contractAddress as string
    const argumentsHash = keccak_256(`flyover peg-in by ${contract}`)
    const address = addressBytes(bitcoinUserKey())
    const terms = { argumentsHash, userRefund: address, providerAddress: address, contract }
    const redeemScript = bytesOf(await this.#bridge.view<string>('getActivePowpegRedeemScript'))
    const { raw, block, height } = await this.#payAndConfirm([
      { script: flyoverScript(redeemScript, terms), amount: satoshis },
    ])
    const values = [raw, height, proofOf(block, 1), argumentsHash, address, contract, address, false]
    const call = bridgeInterface.encodeFunctionData('registerFastBridgeBtcTransaction', values)
    const data = `0x${receiver.slice(2).padStart(64, '0')}${call.slice(2)}`
    const result = BigInt.asIntN(
      256,
      BigInt(await this.#node.request('eth_call', [{ from, to: contract, data, gas }, 'latest'])),
    )
    if (result <= 0n) throw new Error(`the Bridge rejected the flyover peg-in: code ${result}`)
    const receipt = await this.#node.send({ from, to: contract, data, gas })
    const paid = {
      bitcoinTransaction: displayed(idOf(raw)),
      bitcoinHeight: height,
      transaction: receipt.transactionHash,
    }
    return { ...paid, receiver, satoshis: String(satoshis), provider: contract }
  }

  /** Bitcoin address of the user. Its payments come from there. */
  get bitcoinUser(): string {
    return addressOf(bitcoinUserKey())
  }

  async #payAndConfirm(outputs: readonly Output[]): Promise<{ raw: Uint8Array; block: BitcoinBlock; height: number }> {
    const { funding, raw } = pay(bitcoinUserKey(), (await this.#bitcoinHeight()) + 1, outputs)
    return { raw, ...(await this.#confirm([raw], funding)) }
  }

  /** Puts transactions into a Bitcoin block, behind one with the coinbase that they spend, and confirms it. */
  async #confirm(raws: readonly Uint8Array[], funding?: Uint8Array): Promise<{ block: BitcoinBlock; height: number }> {
    const start = (await this.#bitcoinHeight()) + 1
    const height = start + 1
    const later = Array.from({ length: confirmations }, (_none, index) => [coinbase(height + 1 + index, [])])
    const { blocks } = await this.#extend([[funding ?? coinbase(start, [])], [coinbase(height, []), ...raws], ...later])
    return { block: blocks[1] as BitcoinBlock, height }
  }

  /** Mines Bitcoin blocks with these transactions and sends their headers to the Bridge. */
  async #extend(
    transactions: readonly (readonly Uint8Array[])[],
  ): Promise<{ blocks: BitcoinBlock[]; headers: Uint8Array[]; receipt: Receipt }> {
    let parent = bytesOf(await this.#bridge.view<string>('getBtcBlockchainBestBlockHeader'))
    const blocks = transactions.map((raws) => {
      const block = mineBlock(parent, raws.map(idOf))
      parent = block.header
      return block
    })
    const headers = blocks.map(({ header }) => header)
    return { blocks, headers, receipt: await this.#federator('receiveHeaders', [headers]) }
  }

  #register(raw: Uint8Array, block: BitcoinBlock, height: number, index: number): Promise<Receipt> {
    return this.#federator('registerBtcTransaction', [raw, height, proofOf(block, index)])
  }

  #update(): Promise<Receipt> {
    return this.#federator('updateCollections', [])
  }

  #federator(method: string, values: readonly unknown[]): Promise<Receipt> {
    return this.#bridge.send(hexOf(federatorKeys()[0] as Uint8Array), method, values)
  }

  #bitcoinHeight(): Promise<number> {
    return this.#bridge.count('getBtcBlockchainBestChainHeight')
  }

  async #mineUpTo(height: number): Promise<void> {
    await this.#node.mine(Math.max(0, height - (await this.#node.blockNumber())))
  }

  /** Returns the first block with a transaction that waits for confirmations. */
  async #oldest(): Promise<number | undefined> {
    const waiting = await this.#bridge.waitingForConfirmations()
    return waiting.length === 0 ? undefined : Math.min(...waiting.map(({ createdAt }) => createdAt))
  }

  async #account(): Promise<string> {
    const [first] = await this.#node.request<string[]>('eth_accounts')
    if (first === undefined) throw new Error('the node has no account')
    return first
  }
}

function reasonOf(event: Result | undefined): string {
  return event === undefined ? '' : `: reason ${event.reason}`
}

function confirmedIn(receipt: Receipt): ConfirmedPegOut[] {
  return eventsIn(receipt, 'pegout_confirmed').map(({ btcTxHash }) => ({
    bitcoinTransaction: String(btcTxHash).slice(2),
    transaction: receipt.transactionHash,
  }))
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}
