import type { BalancedClient, HttpAnswer, RpcAnswer } from './balancedClient.ts'
import type { Incidents } from './incidents.ts'
import { type ChainLog, LogModel } from './logModel.ts'

const pauseMs = 500
/** Blocks below the head from which on a filter of logs begins, more than a reorganization has. */
const startDepth = 20

type Kind = 'log' | 'block'

/**
 * A caller with an installed filter, polled through the balancer. A poll without an answer may have advanced the filter, so the
 * caller installs a new filter.
 */
export class FilterFollower {
  readonly kind: Kind
  /** Logs from the block `start` on. */
  logs = new LogModel()
  start = 0
  /** Hashes of blocks since the installation. */
  hashes: string[] = []
  polls = 0
  installed = 0
  readonly #client: BalancedClient
  readonly #incidents: Incidents
  readonly #contract: string
  readonly #key: string
  readonly #following: Promise<void>
  #id = ''
  #isEnding = false

  constructor(
    client: BalancedClient,
    incidents: Incidents,
    { kind, contract, key }: { kind: Kind; contract: string; key: string },
  ) {
    this.#client = client
    this.#incidents = incidents
    this.kind = kind
    this.#contract = contract
    this.#key = key
    this.#following = this.#follow()
  }

  /** Polls a last time and ends. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#following
    await this.#poll()
  }

  async #follow(): Promise<void> {
    while (!this.#isEnding) {
      if (this.#id === '') await this.#install()
      await this.#poll()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async #install(): Promise<void> {
    const ask = <T>(method: string, params: unknown[]) => this.#client.result<T>(method, params, this.#key)
    this.installed++
    this.logs = new LogModel()
    this.hashes = []
    if (this.kind === 'block') this.#id = await ask('eth_newBlockFilter', [])
    else {
      this.start = Math.max(0, Number(await ask('eth_blockNumber', [])) - startDepth)
      const criteria = { address: this.#contract, fromBlock: `0x${this.start.toString(16)}` }
      this.#id = await ask('eth_newFilter', [criteria])
    }
  }

  async #poll(): Promise<void> {
    const sent = performance.now()
    const asked = this.#client.post('eth_getFilterChanges', [this.#id], this.#key)
    const answer = await asked.catch((error: Error) => error.message)
    // The store of filters, or all nodes, are away.
    if (typeof answer !== 'string' && answer.status === 503) return
    if (typeof answer === 'string' || answer.status !== 200) this.#lost(sent, answer)
    else this.#take(JSON.parse(answer.text) as RpcAnswer)
  }

  #take({ result, error }: RpcAnswer): void {
    this.polls++
    try {
      if (error !== undefined) throw new Error(`${error.code} ${error.message}`)
      if (this.kind === 'block') this.hashes.push(...(result as string[]))
      else this.logs.apply(result as ChainLog[])
    } catch (fault) {
      this.#incidents.fault(`${this.kind} filter ${this.#id}: ${fault instanceof Error ? fault.message : fault}`)
      this.#id = ''
    }
  }

  #lost(sent: number, answer: HttpAnswer | string): void {
    this.#id = ''
    if (this.#incidents.causeOf(sent, performance.now()) !== undefined) return
    const reason = typeof answer === 'string' ? answer : `${answer.status} ${answer.text.slice(0, 200)}`
    this.#incidents.fault(`poll of a ${this.kind} filter lost: ${reason}`, sent)
  }
}
