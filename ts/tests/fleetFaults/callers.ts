import type { Random } from '../../src/compare/random.ts'
import type { BalancedClient, HttpAnswer, RpcAnswer } from './balancedClient.ts'
import type { HeadTimes } from './headTimes.ts'
import type { Incidents } from './incidents.ts'

const tickMs = 10
/** Age of a head from which on every answer has it. */
const freshMs = 250
/** Requests without an answer. Beyond them no more are sent. */
const mostWaiting = 2000
const callerCount = 24

/** A caller with a key. Every other one asks for a head at least as high as in all answers before. */
interface Caller {
  readonly key: string
  readonly isStrict: boolean
  highest: number
}

/** A request and the check of its result. */
interface Read {
  readonly method: string
  readonly params: unknown[]
  readonly isRight: (result: unknown) => boolean
}

/** Counts of requests. */
export interface CallCounts {
  answered: number
  /** Answered requests with `If-Head-At-Least`. */
  strict: number
  /** Answers that lack a head which a replica had 250 ms before the request. */
  stale: number
  /** Refusals because no node had the head in time. */
  late: number
  /** Failed requests that were in flight at a killed node or balancer, or sent while the balancer was down. */
  inFlight: number
  /** All other failed requests. */
  lost: number
  /** Requests that were not sent because too many were waiting. */
  held: number
}

/** Callers that read through the balancer, at a constant rate. */
export class Callers {
  readonly counts: CallCounts = { answered: 0, strict: 0, stale: 0, late: 0, inFlight: 0, lost: 0, held: 0 }
  /** Durations of answered requests in milliseconds. */
  readonly durations: number[] = []
  readonly #client: BalancedClient
  readonly #heads: HeadTimes
  readonly #incidents: Incidents
  readonly #random: Random
  readonly #callers: readonly Caller[]
  readonly #reads: readonly Read[]
  readonly #waiting = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(
    client: BalancedClient,
    heads: HeadTimes,
    incidents: Incidents,
    random: Random,
    { keys, contract, account }: { keys: readonly string[]; contract: string; account: string },
  ) {
    this.#client = client
    this.#heads = heads
    this.#incidents = incidents
    this.#random = random
    this.#callers = Array.from({ length: callerCount }, (_none, index) => ({
      key: keys[(index >> 1) % keys.length] as string,
      isStrict: index % 2 === 0,
      highest: 0,
    }))
    this.#reads = readsOf(contract, account)
  }

  start(perSecond: number): void {
    const began = performance.now()
    let sent = 0
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
      for (; sent < due; sent++) {
        if (this.#waiting.size >= mostWaiting) this.counts.held++
        else this.#send(this.#random.pick(this.#callers), this.#random.pick(this.#reads))
      }
    }, tickMs)
  }

  /** Sends no more, and waits for the answers. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#waiting)
  }

  #send(caller: Caller, read: Read): void {
    const asked = this.#ask(caller, read)
    this.#waiting.add(asked)
    void asked.finally(() => this.#waiting.delete(asked))
  }

  async #ask(caller: Caller, { method, params, isRight }: Read): Promise<void> {
    const least = caller.isStrict ? caller.highest : undefined
    const sent = performance.now()
    // The answer must have at least the head of that time.
    const expected = this.#heads.at(sent - freshMs)
    const answer = await this.#client.post(method, params, caller.key, least).catch((error: Error) => error.message)
    const isLate = typeof answer !== 'string' && answer.status === 503 && answer.text.includes('has no block')
    if (isLate) this.counts.late++
    else if (typeof answer === 'string' || answer.status !== 200) this.#failed(sent, method, answer)
    else {
      this.counts.answered++
      this.durations.push(performance.now() - sent)
      this.#check(caller, method, answer, { least, expected, sent, isRight })
    }
  }

  #failed(sent: number, method: string, answer: HttpAnswer | string): void {
    const now = performance.now()
    if (this.#incidents.causeOf(sent, now) !== undefined) {
      this.counts.inFlight++
      return
    }
    this.counts.lost++
    const reason = typeof answer === 'string' ? answer : `${answer.status} ${answer.text.slice(0, 200)}`
    this.#incidents.fault(`${method} lost after ${Math.round(now - sent)} ms: ${reason}`, sent)
  }

  #check(
    caller: Caller,
    method: string,
    { text, head = -1 }: HttpAnswer,
    {
      least,
      expected,
      sent,
      isRight,
    }: { least: number | undefined; expected: number; sent: number; isRight: Read['isRight'] },
  ): void {
    const { result, error } = JSON.parse(text) as RpcAnswer
    const fault = (reason: string) => this.#incidents.fault(`${method}: ${reason}`, sent)
    if (error !== undefined || !isRight(result)) fault(text.slice(0, 200))
    const number = method === 'eth_blockNumber' ? Math.min(head, Number(result)) : head
    if (least !== undefined) {
      this.counts.strict++
      if (number < least) fault(`block ${number} although ${least} was asked for`)
    } else if (number < expected) {
      this.counts.stale++
      this.#incidents.stale(sent, expected - number)
    }
    caller.highest = Math.max(caller.highest, head)
  }
}

function readsOf(contract: string, account: string): Read[] {
  const isQuantity = (result: unknown) => /^0x[0-9a-f]+$/.test(String(result))
  const number: Read = { method: 'eth_blockNumber', params: [], isRight: isQuantity }
  const balance: Read = { method: 'eth_getBalance', params: [account, 'latest'], isRight: isQuantity }
  const isBlock = (result: unknown) => isQuantity((result as { number?: string } | null)?.number)
  return [
    ...[number, number, number, balance, balance, balance],
    { method: 'eth_getTransactionCount', params: [account, 'latest'], isRight: isQuantity },
    { method: 'eth_call', params: [{ to: contract, data: '0x2ddbd13a' }, 'latest'], isRight: isQuantity },
    { method: 'eth_getBlockByNumber', params: ['latest', false], isRight: isBlock },
    { method: 'eth_getLogs', params: [{ fromBlock: 'latest', address: contract }], isRight: Array.isArray },
  ]
}
