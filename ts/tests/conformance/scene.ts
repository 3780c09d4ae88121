import { difference, type Failure, isTree, short } from './compare.ts'
import type { HostedNode } from './hostedNode.ts'
import { exchange, send } from './httpClient.ts'
import { type Got, judge } from './judge.ts'
import { changeAt, valueAt } from './paths.ts'
import { SocketClient } from './socketClient.ts'
import { expanded, type FileEntry, type Step, type Transcripts } from './transcript.ts'

/** A node and the state of the steps on it: captured values and connections. */
export class Scene {
  readonly #node: HostedNode
  readonly #transcripts: Transcripts
  readonly #captured = new Map<string, unknown>()
  #shared: SocketClient | undefined
  /** Accounts and transactions that exist only in the recording. */
  readonly #refused = new Set<unknown>()
  /** Whether one of them may be a transaction that is mined in the recording. */
  #isBehind = false
  /** A separate connection for one step and its successor. */
  #own: { client: SocketClient; until: number } | undefined

  constructor(node: HostedNode, transcripts: Transcripts) {
    this.#node = node
    this.#transcripts = transcripts
  }

  /** Imports the blocks that a file of reads needs. */
  async importFiles(files: readonly string[]): Promise<Failure | undefined> {
    for (const file of files) {
      const lines = this.#transcripts.blockLines(file)
      const { outcomes, error } = await this.#node.importLines(lines)
      if (error === undefined) continue
      const got = `${outcomes.length} of ${lines.length} lines of ${file}: ${error}`
      return { what: 'import', expected: files.join(', then '), got }
    }
    return undefined
  }

  /** Runs one step. Returns the difference, or undefined. */
  async run(entry: FileEntry, step: Step): Promise<Failure | undefined> {
    const bound = this.#withBinds(step)
    try {
      await this.#catchUp(bound)
      return await this.#runKind(entry, bound)
    } catch (error) {
      return { what: 'the exchange', expected: short(step.response), got: String((error as Error).message) }
    }
  }

  async stop(): Promise<void> {
    this.#shared?.close()
    this.#own?.client.close()
    await this.#node.stop()
  }

  async #runKind(entry: FileEntry, step: Step): Promise<Failure | undefined> {
    switch (step.kind) {
      case 'rpc':
        return this.#rpc(entry, step)
      case 'http':
        return this.#conclude(step, await this.#http(step))
      case 'socket':
        return this.#socket(step)
      case 'ws':
        return this.#conclude(step, await this.#webSocket(step))
      case 'ws-notifications': {
        const expected = step.response as unknown[]
        const pushed = (await this.#shared?.pushed(expected.length)) ?? []
        const body = sinceFirst(expected, pushed)
        return this.#conclude(step, { text: JSON.stringify(body), body })
      }
      case 'mine':
        return this.#mine(entry, step)
      case 'import':
        return this.#importRange(step.request as { blocks: string; from: number; to: number })
      case 'observation':
        return undefined
    }
  }

  /** Sends a step. If this node has no block template for a submission, imports the block from a file instead. */
  async #rpc(entry: FileEntry, step: Step): Promise<Failure | undefined> {
    const body = JSON.stringify(step.request)
    const got = await this.#post(step.expand === true ? expanded(body) : body)
    const failure = await this.#conclude(step, got)
    const result = isTree(step.response) ? step.response.result : undefined
    const isSubmission = isTree(result) && 'blockImportedResult' in result
    return failure !== undefined && isSubmission ? this.#importInstead(entry, result) : failure
  }

  #rememberRefusal(recorded: unknown): void {
    this.#isBehind = true
    if (typeof recorded === 'string' && recorded.length >= 42) this.#refused.add(recorded)
  }

  /** With instant mining, a refusal leaves the chain behind that of the recording: mines empty blocks. */
  async #catchUp({ headNumber }: Step): Promise<void> {
    if (!this.#isBehind || headNumber === undefined) return
    this.#isBehind = false
    const missing = headNumber - Number(await this.#ask('eth_blockNumber', []))
    for (let count = 0; count < missing; count++) await this.#ask('evm_mine', [])
  }

  async #mine(entry: FileEntry, step: Step): Promise<Failure | undefined> {
    let result: unknown
    for (const [method, params] of Object.entries(step.request as Readonly<Record<string, unknown[]>>)) {
      result = await this.#ask(method, params)
    }
    const response = step.response as Readonly<Record<string, unknown>>
    return difference(response, result) === undefined ? undefined : this.#importInstead(entry, response)
  }

  async #importInstead(entry: FileEntry, response: Readonly<Record<string, unknown>>): Promise<Failure | undefined> {
    const hash = String(response.blockHash)
    const files = Object.keys(this.#transcripts.index.blockFiles)
    const lines = files.flatMap((file) => this.#transcripts.blockLines(file))
    const line = lines.find((one) => `0x${one.split(',')[1]}` === hash)
    if (line === undefined) return { what: 'block', expected: hash, got: `not in the block files of ${entry.file}` }
    const { outcomes, error } = await this.#node.importLines([line])
    if (error !== undefined) return { what: 'import', expected: hash, got: error }
    const recorded = Buffer.from(String(response.blockImportedResult).slice(2), 'hex').toString()
    return difference(recorded, outcomes[0]?.result, 'result of the import')
  }

  async #importRange({ blocks, from, to }: { blocks: string; from: number; to: number }): Promise<Failure | undefined> {
    const number = (line: string): number => Number(line.split(',')[0])
    const lines = this.#transcripts.blockLines(blocks).filter((line) => number(line) >= from && number(line) <= to)
    const { error } = await this.#node.importLines(lines)
    return error === undefined ? undefined : { what: 'import', expected: `${from} to ${to} of ${blocks}`, got: error }
  }

  #http(step: Step): Promise<Got> {
    const { httpMethod, path, headers, body } = step.request as {
      httpMethod: string
      path: string
      headers?: Record<string, string>
      body?: string
    }
    return send(this.#node.url, httpMethod, path, headers ?? {}, body === undefined ? undefined : expanded(body))
  }

  async #socket(step: Step): Promise<Failure | undefined> {
    const { got, bytes, isClosed } = await exchange(this.#node.url, (step.request as { bytes: string }).bytes)
    const recorded = step.response as { bytes: string; closedByServer: boolean }
    const product = step.conformance?.product
    if (product?.httpStatus !== undefined) return this.#conclude({ ...step, response: undefined }, got)
    const isAsRecorded = bytes === recorded.bytes && isClosed === recorded.closedByServer
    if (step.conformance?.level === 'fix') {
      return isAsRecorded ? { what: 'answer', expected: product?.text ?? '', got: 'as recorded' } : undefined
    }
    const status = Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(recorded.bytes)?.[1])
    const response = JSON.parse(recorded.bytes.split('\r\n\r\n').at(-1) ?? '') as unknown
    return difference({ status, response }, { status: got.status, response: got.body })
  }

  async #webSocket(step: Step): Promise<Got> {
    const { text } = step.request as { text?: string }
    const sent = text ?? JSON.stringify(step.request)
    const client = await this.#client(step)
    return client.ask(expanded(sent), step.response === '')
  }

  /** Returns the connection of a step. An "own connection" step opens a new one, which the next step uses, too. */
  async #client(step: Step): Promise<SocketClient> {
    const isOwn = /own connection|another connection/.test(step.note ?? '')
    if (this.#own !== undefined && (isOwn || step.n > this.#own.until)) {
      this.#own.client.close()
      this.#own = undefined
    }
    if (isOwn) this.#own = { client: await SocketClient.open(this.#node.url), until: step.n + 1 }
    if (this.#own !== undefined) return this.#own.client
    this.#shared ??= await SocketClient.open(this.#node.url)
    return this.#shared
  }

  async #conclude(step: Step, got: Got): Promise<Failure | undefined> {
    for (const [name, path] of Object.entries(step.captures ?? {})) this.#captured.set(name, valueAt(got.body, path))
    const memory = { captured: this.#captured, refused: this.#refused }
    const failure = await judge(step, got, memory, (method, params) => this.#ask(method, params))
    if (failure === undefined && hasResult(step.response) && !hasResult(got.body))
      this.#rememberRefusal(step.response.result)
    return failure
  }

  /** Returns the result of a request, or its error. */
  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = (await this.#post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).body
    return isTree(answer) ? (answer.error ?? answer.result) : answer
  }

  #post(body: string): Promise<Got> {
    return send(this.#node.url, 'POST', '/', { 'Content-Type': 'application/json' }, body)
  }

  #withBinds(step: Step): Step {
    if (step.binds === undefined) return step
    const request = structuredClone(step.request)
    for (const [path, name] of Object.entries(step.binds)) changeAt(request, path, () => this.#captured.get(name))
    return { ...step, request }
  }
}

function hasResult(body: unknown): body is { result: unknown } {
  return isTree(body) && 'result' in body
}

/** The recorder may have read and dropped messages: those of blocks below the first block in the recording. */
function sinceFirst(recorded: readonly unknown[], pushed: readonly unknown[]): unknown[] {
  if (recorded.length === 0) return [...pushed]
  const first = Math.min(...recorded.map(heightOf))
  return pushed.filter((message) => !(heightOf(message) < first))
}

/** Returns the block number of a pushed head or log; NaN for other messages. */
function heightOf(message: unknown): number {
  const result = (message as { params?: { result?: { number?: string; blockNumber?: string } } }).params?.result
  return Number(result?.number ?? result?.blockNumber)
}
