import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Addon } from '../native/bindings.ts'
import { type Cursor, headCursor, movementSince } from '../native/feed.ts'
import type { Artifacts } from './artifacts.ts'
import { addressesIn, reasonOf, type TracedCall, treeOf } from './callTree.ts'
import { shown } from './failureText.ts'
import type { GasReport } from './gasReport.ts'

/** Blocks read at a time, before other work of the main thread runs. */
const maxBlocks = 32
/** Time limit for the trace of a transaction. */
const traceMs = 1000
/** Gas of a transaction that runs no code. */
const transferGas = 21_000n
/** Sender and recipient of the REMASC transaction, the last transaction of every block. */
const zeroAddress = '0x0000000000000000000000000000000000000000'
const remascAddress = '0x0000000000000000000000000000000001000008'

interface Block {
  readonly number: string
  readonly hash: string
  readonly gasUsed: string
  readonly transactions: readonly Transaction[]
}

interface Transaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly input: string
}

interface Receipt {
  readonly transactionHash: string
  readonly contractAddress: string | null
  readonly gasUsed: string
  readonly status: string
}

/** Additions to the lines of blocks and transactions. */
export interface LineOptions {
  /** Names contracts and methods, and adds a call tree to failed transactions. */
  readonly artifacts?: Artifacts | undefined
  /** Counts the gas of transactions. */
  readonly gas?: GasReport | undefined
}

/** Codes of contracts in memory. */
const maxCodes = 500

/** Result of the callTracer. */
interface Trace extends TracedCall {
  /** Lines printed by `console.sol`. */
  readonly console?: readonly string[]
}

/**
 * Prints one line for each new block and one for each of its transactions, with the lines that contracts print. Waits until the output has been read before it
 * continues, so that a stopped terminal costs no memory.
 */
export class ChainLines {
  readonly #native: Addon
  readonly #out: Writable
  readonly #artifacts: Artifacts | undefined
  readonly #gas: GasReport | undefined
  readonly #codes = new Map<string, string>()
  #cursor: Cursor
  #isReading = false
  #hasMoved = false

  constructor(native: Addon, out: Writable, { artifacts, gas }: LineOptions = {}) {
    this.#native = native
    this.#out = out
    this.#artifacts = artifacts
    this.#gas = gas
    this.#cursor = headCursor(native)
  }

  /** Must be called after the head has changed. */
  follow(): void {
    this.#hasMoved = true
    if (this.#isReading) return
    this.#isReading = true
    void this.#readAll().finally(() => {
      this.#isReading = false
    })
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#hasMoved) {
        this.#hasMoved = false
        while (await this.#readSome()) await new Promise((resolve) => setImmediate(resolve))
      }
    } catch {
      // The node is closing, or the output was closed.
    }
  }

  /** Prints the next blocks. Returns false when the head is reached. */
  async #readSome(): Promise<boolean> {
    const { hashes, cursor } = movementSince(this.#native, this.#cursor, maxBlocks)
    const fork = cursor.number - hashes.length
    if (!this.#native.printsChain()) {
      this.#cursor = cursor
      return hashes.length === maxBlocks
    }
    const lines = fork < this.#cursor.number ? [`back to block ${fork}`] : []
    if (lines.length > 0) this.#codes.clear()
    for (const hash of hashes) lines.push(...(await this.#blockLines(hash)))
    this.#cursor = cursor
    if (lines.length > 0 && !this.#out.write(`${lines.join('\n')}\n`)) await once(this.#out, 'drain')
    return hashes.length === maxBlocks
  }

  async #blockLines(hash: string): Promise<string[]> {
    const block = read<Block | null>(this.#native.ethGetBlockByHash(hash, true))
    const receipts = read<Receipt[] | null>(this.#native.ethGetBlockReceipts(`hash:${hash}`))
    // A reorganisation removed the block meanwhile.
    if (block === null || receipts === null) return []
    const ofTransaction = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]))
    const sent = block.transactions.filter(({ from, to }) => from !== zeroAddress || to !== remascAddress)
    const count = `${sent.length} ${sent.length === 1 ? 'transaction' : 'transactions'}`
    const lines = [`block ${Number(block.number)}  ${block.hash}  ${count}  gas ${BigInt(block.gasUsed)}`]
    for (const transaction of sent) {
      const { hash, from, to } = transaction
      const receipt = ofTransaction.get(hash)
      if (receipt === undefined) continue
      const { contractAddress, gasUsed, status } = receipt
      const target = to ?? `contract ${contractAddress}`
      const isOk = status === '0x1'
      const trace = isOk && BigInt(gasUsed) === transferGas ? null : await this.#trace(hash)
      const reason = trace === undefined ? 'unknown reason' : reasonOf(trace, this.#artifacts)
      const name = await this.#name(transaction, receipt)
      lines.push(`  ${hash}  ${from} -> ${target}${name}  gas ${BigInt(gasUsed)}  ${isOk ? 'ok' : `failed: ${reason}`}`)
      if (!isOk && trace && this.#artifacts !== undefined) lines.push(...(await this.#tree(trace, this.#artifacts)))
      for (const line of trace?.console ?? []) lines.push(`    console.log: ${shown(line)}`)
    }
    return lines
  }

  /** Returns contract and method of a transaction for its line, and counts its gas. */
  async #name({ to, input }: Transaction, { contractAddress, gasUsed }: Receipt): Promise<string> {
    const [artifacts, gas] = [this.#artifacts, this.#gas]
    if (artifacts === undefined && gas === undefined) return ''
    const code = await this.#code(to ?? contractAddress ?? zeroAddress)
    if (to === null) {
      const name = artifacts?.createdBy(input)
      gas?.add(name ?? 'unnamed', 'deployment', BigInt(gasUsed))
      return name === undefined ? '' : ` (${name})`
    }
    if (code === '0x') return ''
    const [name, method] = [artifacts?.nameOf(code), artifacts?.call(input, code)?.method]
    gas?.add(name ?? to, method ?? (input.slice(0, 10) || 'receive()'), BigInt(gasUsed))
    return name === undefined ? '' : shown(` (${name}${method === undefined ? '' : `.${method}`})`)
  }

  async #tree(trace: Trace, artifacts: Artifacts): Promise<string[]> {
    const codes = new Map<string, string>()
    for (const address of addressesIn(trace)) codes.set(address, await this.#code(address))
    const lines = treeOf(trace, artifacts, (address) => codes.get(address) ?? '0x')
    return lines.map((line) => `    ${line}`)
  }

  async #code(address: string): Promise<string> {
    const known = this.#codes.get(address)
    if (known !== undefined) return known
    const code = read<string>(await this.#native.ethGetCode(address, 'latest'))
    if (this.#codes.size >= maxCodes) this.#codes.clear()
    this.#codes.set(address, code)
    return code
  }

  /** Executes a transaction again for what receipts do not contain: the reason of a failure and the lines of its console. */
  async #trace(hash: string): Promise<Trace | null | undefined> {
    const options = JSON.stringify({
      tracer: 'callTracer',
      tracerConfig: { onlyTopCall: this.#artifacts === undefined },
    })
    try {
      return read(await this.#native.debugTraceTransaction(hash, options, traceMs, 0))
    } catch {
      return undefined
    }
  }
}

function read<T>(answer: string | Buffer): T {
  return JSON.parse(answer.toString()) as T
}
