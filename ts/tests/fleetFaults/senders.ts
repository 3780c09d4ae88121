import { keccak256, toUtf8Bytes, Wallet } from 'ethers'
import type { FeedEvent } from '../changeFeed.ts'
import type { BalancedClient, RpcAnswer } from './balancedClient.ts'

const tickMs = 20
/** Waiting transactions of an account. With those of the deepest reorganization there are fewer than the 16 that a pool takes. */
const mostWaiting = 7
/** Time after which a transaction that was not accepted is sent again. */
const repeatMs = 500
/** Time before the kill of a node in which it has possibly not passed on an accepted transaction. */
const passOnMs = 1000
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`
const chainId = 33
const gasLimit = 100_000

interface Sent {
  readonly hash: string
  readonly raw: string
  /** When a node accepted it; undefined: none has. */
  acceptedAt: number | undefined
  sentAt: number
}

interface Sender {
  readonly wallet: Wallet
  readonly key: string
  nonce: number
  /** Transactions that are in no block. */
  readonly waiting: Map<string, Sent>
}

/** Accounts that send transactions through the balancer at a constant rate, as long as blocks take them. */
export class Senders {
  accepted = 0
  repeated = 0
  /** Transactions in blocks. */
  mined = 0
  /** Number of refusals by their reason. */
  readonly refusals = new Map<string, number>()
  readonly #client: BalancedClient
  readonly #contract: string
  readonly #senders: readonly Sender[]
  readonly #all = new Map<string, { readonly sender: Sender; readonly sent: Sent }>()
  readonly #running = new Set<Promise<void>>()
  #timers: NodeJS.Timeout[] = []

  constructor(
    client: BalancedClient,
    { keys, contract, accounts }: { keys: readonly string[]; contract: string; accounts: number },
  ) {
    this.#client = client
    this.#contract = contract
    // The first account has created the contract.
    this.#senders = Array.from({ length: accounts - 1 }, (_none, index) => ({
      wallet: walletOf(index + 1),
      key: keys[index % keys.length] as string,
      nonce: 0,
      waiting: new Map(),
    }))
  }

  start(perSecond: number): void {
    const began = performance.now()
    let turns = 0
    const send = () => {
      const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
      for (; turns < due; turns++) {
        const sender = this.#senders[turns % this.#senders.length]
        if (sender !== undefined && sender.waiting.size < mostWaiting) this.#run(this.#sendNext(sender))
      }
    }
    this.#timers = [setInterval(send, tickMs), setInterval(() => this.#repeat(), repeatMs)]
  }

  /** Sends no new transactions. */
  pause(): void {
    clearInterval(this.#timers[0])
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running)
  }

  /** Takes the changes of the chain. */
  follow({ type, transactions = [] }: FeedEvent): void {
    for (const { hash } of transactions) {
      const owned = this.#all.get(hash)
      if (type === 'enacted') {
        this.mined++
        owned?.sender.waiting.delete(hash)
      } else {
        this.mined--
        owned?.sender.waiting.set(hash, owned.sent)
      }
    }
  }

  /** Sends again what the killed node may have accepted without having passed it on. */
  killed(at: number): void {
    for (const sent of this.#waiting()) if ((sent.acceptedAt ?? 0) >= at - passOnMs) sent.acceptedAt = undefined
  }

  /** Returns the accepted transactions that are in no block. */
  get missing(): string[] {
    return this.#waiting()
      .filter(({ acceptedAt }) => acceptedAt !== undefined)
      .map(({ hash }) => hash)
  }

  /** Returns the number of transactions that are in no block. */
  get waiting(): number {
    return this.#waiting().length
  }

  #waiting(): Sent[] {
    return this.#senders.flatMap(({ waiting }) => [...waiting.values()])
  }

  #run(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #sendNext(sender: Sender): Promise<void> {
    const transaction = { to: this.#contract, data: increase, nonce: sender.nonce++, gasLimit, gasPrice: 1, chainId }
    const raw = await sender.wallet.signTransaction({ ...transaction, type: 0 })
    const sent: Sent = { hash: keccak256(raw), raw, acceptedAt: undefined, sentAt: 0 }
    this.#all.set(sent.hash, { sender, sent })
    sender.waiting.set(sent.hash, sent)
    await this.#send(sender, sent)
  }

  async #send(sender: Sender, sent: Sent): Promise<void> {
    sent.sentAt = performance.now()
    const answer = await this.#client.post('eth_sendRawTransaction', [sent.raw], sender.key).catch(() => undefined)
    if (answer?.status !== 200) return
    const { error } = JSON.parse(answer.text) as RpcAnswer
    if (error === undefined || /already exists|nonce too low/.test(error.message)) {
      this.accepted++
      sent.acceptedAt = performance.now()
    } else {
      const reason = error.message.replaceAll(/\d+/g, 'N').slice(0, 100)
      this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1)
    }
  }

  #repeat(): void {
    const now = performance.now()
    for (const sender of this.#senders)
      for (const sent of sender.waiting.values())
        if (sent.acceptedAt === undefined && now - sent.sentAt > repeatMs) {
          this.repeated++
          this.#run(this.#send(sender, sent))
        }
  }
}

/** Returns a development account. */
export function walletOf(index: number): Wallet {
  return new Wallet(keccak256(toUtf8Bytes(index === 0 ? 'cow' : `cow${index}`)))
}
