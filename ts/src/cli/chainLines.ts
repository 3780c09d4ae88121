import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Addon } from '../native/bindings.ts'
import { type Cursor, headCursor, movementSince } from '../native/feed.ts'
import { failureText } from './failureText.ts'

/** Blocks read at a time, before other work of the main thread runs. */
const maxBlocks = 32
/** Time limit for finding the reason of a failed transaction. */
const reasonMs = 1000
/** Sender and recipient of the REMASC transaction, the last transaction of every block. */
const zeroAddress = '0x0000000000000000000000000000000000000000'
const remascAddress = '0x0000000000000000000000000000000001000008'

interface Block {
  readonly number: string
  readonly hash: string
  readonly gasUsed: string
  readonly transactions: readonly { readonly hash: string; readonly from: string; readonly to: string | null }[]
}

interface Receipt {
  readonly transactionHash: string
  readonly contractAddress: string | null
  readonly gasUsed: string
  readonly status: string
}

/**
 * Prints one line for each new block and one for each of its transactions. Waits until the output has been read before it
 * continues, so that a stopped terminal costs no memory.
 */
export class ChainLines {
  readonly #native: Addon
  readonly #out: Writable
  #cursor: Cursor
  #isReading = false
  #hasMoved = false

  constructor(native: Addon, out: Writable) {
    this.#native = native
    this.#out = out
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
    for (const { hash, from, to } of sent) {
      const receipt = ofTransaction.get(hash)
      if (receipt === undefined) continue
      const { contractAddress, gasUsed, status } = receipt
      const target = to ?? `contract ${contractAddress}`
      const end = status === '0x1' ? 'ok' : `failed: ${await this.#reason(hash)}`
      lines.push(`  ${hash}  ${from} -> ${target}  gas ${BigInt(gasUsed)}  ${end}`)
    }
    return lines
  }

  /** Executes a failed transaction again for its reason, which receipts do not contain. */
  async #reason(hash: string): Promise<string> {
    const options = JSON.stringify({ tracer: 'callTracer', tracerConfig: { onlyTopCall: true } })
    try {
      return failureText(read(await this.#native.debugTraceTransaction(hash, options, reasonMs, 0)))
    } catch {
      return 'unknown reason'
    }
  }
}

function read<T>(answer: string | Buffer): T {
  return JSON.parse(answer.toString()) as T
}
